"""Figures that runners keep, and the page that shows them."""
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools" / "generate")]
import results  # noqa: E402
import results_page  # noqa: E402


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.object(results, "FOLDER", self.folder)
        patch.start()
        self.addCleanup(patch.stop)
        goals = {"NVIDIA X": {"step/a": {"seconds": 2e-5}, "step/": {"ratio": 3}, "train/r": {"rate": 100}}, "CPU": {"step/": {"ratio": 2}}}
        (self.folder / "goals.json").write_text(json.dumps(goals), encoding="utf-8")

    def lines(self):
        page = results_page.page(self.folder)
        return {line.split("`")[1]: [cell.strip() for cell in line.split("|")[2:-1]] for line in page.splitlines() if line.startswith("| `")}

    def test_rows_replace_those_of_their_name_and_leave_others(self):
        first = results.Results("NVIDIA X")
        first.add("step/a", "s", {"Argand": [1.0]})
        first.add("step/b", "s", {"Argand": [1.0]})
        first.save()
        second = results.Results("NVIDIA X")
        second.add("step/a", "s", {"Argand": [3e-5, 1e-5, 2e-5], "eager": [5e-5]})
        second.save(self.folder / "from_elsewhere")
        results.take(self.folder / "from_elsewhere")
        kept = json.loads((self.folder / "nvidia_x.json").read_text(encoding="utf-8"))["rows"]
        self.assertEqual(kept["step/a"]["sides"], {"Argand": [2e-5, 1e-5, 3e-5, 3], "eager": [5e-5, 5e-5, 5e-5, 1]})
        self.assertEqual(kept["step/b"]["sides"]["Argand"], [1.0, 1.0, 1.0, 1])
        self.assertEqual(self.lines()["step/a"][:5], ["20 us", "100 %", "50 us (eager)", "2.50", "**20 us**"])

    def test_another_device_does_not_get_into_a_file(self):
        results.Results("NVIDIA X").save()
        with self.assertRaises(ValueError):
            results.Results("NVIDIA Y").save(self.folder / "nvidia_x.json")

    def test_the_best_peer_counts_and_a_form_that_failed_is_none(self):
        found = results.Results("NVIDIA X")
        found.add("step/b", "s", {"Argand": [1.0], "eager": [4.0], "compile": [2.0]}, {"graph": "RuntimeError: a | b"})
        found.add("ranks/c", "examples/s", {"Argand": [3000.0], "eager": [1000.0]})
        found.add("step/d", "s", {"eager": [1.0]}, {"Argand": "RuntimeError: a | b"})
        found.add("step/b, most memory", "B", {"Argand": [2e9], "eager": [1e9]})
        found.save()
        lines = self.lines()
        self.assertEqual(lines["step/b"][2:5], ["2 s (compile)", "2.00", "ratio 3"])
        self.assertEqual(lines["ranks/c"][:4], ["3 kexamples/s", "", "1 kexamples/s (eager)", "3.00"])
        self.assertEqual(lines["step/d"][:5], ["RuntimeError: a / b", "", "1 s (eager)", "", "ratio 3"])
        self.assertEqual(lines["step/b, most memory"][:5], ["2 GB", "", "1 GB (eager)", "0.50", ""])

    def test_a_goal_may_be_a_rate_of_the_work(self):
        for samples, cell in (([1.0], "100 img/s"), ([0.5], "**100 img/s**")):
            found = results.Results("NVIDIA X")
            found.add("train/r", "s", {"Argand": samples, "eager": [1.0]}, work=64, work_unit="img/s")
            found.save()
            self.assertEqual(self.lines()["train/r"][4], cell)

    def test_any_processor_has_the_goals_of_cpu(self):
        found = results.Results(results.cpu_name(2))
        found.add("step/z", "s", {"Argand": [1.0], "eager": [2.5]})
        found.save()
        self.assertEqual(self.lines()["step/z"][3:5], ["2.50", "**ratio 2**"])

    def test_the_command_leaves_out_what_names_places(self):
        with mock.patch.object(sys, "argv", ["/x/bench/run.py", "--package", "/x/y", "--device", "cpu", "--rows", "a|b"]):
            self.assertEqual(results.command(), "bench/run.py --device cpu --rows 'a|b'")


if __name__ == "__main__":
    unittest.main()
