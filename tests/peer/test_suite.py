"""suite.py itself, by made-up test files: one for each thing that can become of a test."""
import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).with_name("suite.py")
FILE = '''
import os, signal, time, unittest
class T(unittest.TestCase):
    def test_a_passes(self): pass
    def test_b_fails(self): self.assertEqual(1, 2)
    def test_c_is_an_error(self): raise RuntimeError("broken")
    def test_d_is_skipped(self): self.skipTest("why")
    def test_e_crashes(self): os.kill(os.getpid(), signal.SIGSEGV)
    def test_f_hangs(self): time.sleep(1000)
    def test_g_eats(self):
        kept = []
        for _ in range(1000): kept.append(bytearray(os.urandom(1) * 2**22)); time.sleep(0.001)
        time.sleep(1000)
    def test_h_exits(self): os._exit(3)
    def test_i_passes_after_all_that(self): pass
    @unittest.expectedFailure
    def test_j_fails_as_expected(self): self.fail()
    @unittest.expectedFailure
    def test_k_passes_unexpectedly(self): pass
    def test_l_fails_in_a_subtest(self):
        for i in range(3):
            with self.subTest(i): self.assertNotEqual(i, 1)
'''
DIFFERENT = ("b_fails", "c_is_an_error", "e_crashes", "f_hangs", "g_eats", "h_exits", "k_passes_unexpectedly", "l_fails_in_a_subtest")


def run(tmp_path, known="", files=("test_made_up",), more=()):
    (tmp_path / "test").mkdir(exist_ok=True)
    (tmp_path / "test" / "test_made_up.py").write_text(FILE)
    (tmp_path / "test" / "test_broken.py").write_text("import there_is_no_such_module\n")
    (tmp_path / "known").write_text(known)
    command = [sys.executable, str(SUITE), "--plain", "--sources", str(tmp_path), "--known", str(tmp_path / "known"), "--seconds", "4",
               "--memory", "0.5", *more, *files]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_each_outcome_is_told_and_costs_that_test_alone(tmp_path):
    ran = run(tmp_path, more=["--table", str(tmp_path / "table.md")])
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-2:] == ["test_made_up: 3 passed, 3 failed, 1 error, 1 skipped, 4 crashed", "3 passed, 8 failed"]
    for name, why in (("e_crashes", "ended by SIGSEGV"), ("f_hangs", "hangs: no end within 4 seconds"), ("g_eats", "memory: more than 0.5 GiB"),
                      ("h_exits", "ended with status 3")):
        assert f"crashed: test_made_up::T.test_{name}: {why}" in ran.stdout
    assert "| test_made_up | 3 | 0 | 0 | 0 | 8 | 0 | 1 | 27.3 % |" in (tmp_path / "table.md").read_text()


def test_several_processes_run_each_test_once_and_results_can_be_judged_later(tmp_path):
    made = tmp_path / "results.json"
    padded = FILE + "#" * 300_000  # a large file, whose tests are dealt to several processes
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_large.py").write_text(padded)
    ran = run(tmp_path, files=["test_large", "test_made_up"], more=["--jobs", "3", "--results", str(made)])
    for file in ("test_large", "test_made_up"):
        assert f"{file}: 3 passed, 3 failed, 1 error, 1 skipped, 4 crashed\n" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 1 and ran.stdout.endswith("6 passed, 16 failed\n")
    taken = subprocess.run([sys.executable, str(SUITE), "--take", str(made), "--known", str(tmp_path / "known")], capture_output=True, text=True)
    assert (taken.returncode, taken.stdout) == (ran.returncode, ran.stdout)


def test_known_differences_are_no_failures_and_stale_lines_are(tmp_path):
    lines = "".join(f"test_made_up::T.test_{name} | it is made so\n" for name in DIFFERENT)
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- suite -->\nold\n<!-- /suite -->\nAfter.\n")
    marked = lines.replace("b_fails | ", "b_fails | not here: ").replace("error | ", "error | works here: ")
    ran = run(tmp_path, marked, more=["--table", str(page)])
    assert page.read_text().startswith("Before.\n<!-- suite -->\n| file |") and page.read_text().endswith("\n<!-- /suite -->\nAfter.\n")
    assert "| test_made_up | 3 | 6 | 1 | 1 | 0 | 0 | 1 | 33.3 % |" in page.read_text() and "old" not in page.read_text()
    assert ran.returncode == 0 and ran.stdout.splitlines()[-1] == "3 passed, 0 failed", ran.stdout + ran.stderr
    ran = run(tmp_path, lines + "test_made_up::T.test_a_passes | no more\ntest_other::* | not run\n")
    assert ran.returncode == 1 and "nothing differs like this any more" in ran.stdout and ran.stdout.endswith("3 passed, 1 failed\n")


def test_a_file_that_does_not_load_or_is_not_there_is_an_error(tmp_path):
    ran = run(tmp_path, files=("test_broken", "test_nowhere"))
    assert ran.returncode == 1 and ran.stdout.endswith("0 passed, 2 failed\n")
    assert "test_broken::(import): ModuleNotFoundError: No module named 'there_is_no_such_module'" in ran.stdout


def test_what_the_peer_does_not_pass_either_is_outdated(tmp_path):
    ran = run(tmp_path, more=["--with", sys.executable, "-k", "T.test_[bc]*"])
    assert ran.returncode == 0 and "test_made_up: 2 outdated" in ran.stdout, ran.stdout + ran.stderr


def test_what_a_file_has_no_time_for_counts_as_not_run(tmp_path):
    ran = run(tmp_path, more=["--file-seconds", "3"])
    assert ran.returncode == 1 and "not run: test_made_up::T.test_i_passes_after_all_that: the file's time is over" in ran.stdout
    assert "2 not run" not in ran.stdout and "7 not run" in ran.stdout, ran.stdout


FUNCTIONS = """
import unittest
class Mark:
    name, kwargs = "parametrize", {}
    def __init__(self, *args): self.args = args
class Skipped(BaseException): pass
def test_plain(): pass
def test_each(a, b):
    if a == 3: raise Skipped("no 3")
    assert a < b
test_each.pytestmark = [Mark("a", [1, 2, 3]), Mark(("b",), [[2], [3]])]
"""


def test_functions_run_with_all_their_parameters(tmp_path):
    """As pytest's do: six combinations, of which 2 < 2 fails and those with 3 skip themselves."""
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_functions.py").write_text(FUNCTIONS)
    ran = run(tmp_path, files=("test_functions",))
    assert "failed: test_functions::Functions.test_each_1_0" in ran.stdout, ran.stdout + ran.stderr
    assert "test_functions: 4 passed, 1 failed, 2 skipped" in ran.stdout
