"""What the adapter does to the judging of tests."""
import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).with_name("suite.py")
FILE = '''
import unittest
class T(unittest.TestCase):
    @unittest.expectedFailure
    def test_fails_as_expected(self): self.fail()
    @unittest.expectedFailure
    def test_fails_in_a_subtest(self):
        with self.subTest(1): self.fail()
    @unittest.expectedFailure
    def test_passes(self): pass
    def test_fails(self): self.fail()
'''


def test_what_pytorch_expects_to_fail_passes_or_is_skipped(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_made_up.py").write_text(FILE)
    (tmp_path / "known").write_text("")
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys, unittest; sys.path.append({str(SUITE.parent)!r})\nimport adapter\nunittest.expectedFailure = adapter.expected_failure\n")
    ran = subprocess.run([sys.executable, str(SUITE), "--plain", "--sources", str(tmp_path), "--known", str(tmp_path / "known"), "test_made_up"],
                         capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(tmp_path)})
    assert "test_made_up: 1 passed, 1 failed, 2 skipped\n" in ran.stdout, ran.stdout + ran.stderr
