"""torch.utils.benchmark: texts and tables recorded from PyTorch 2.15, and timers that measure."""
import argand as torch
import pytest
from argand.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit, trim_sigfig


def measured(number, times, **what):
    return Measurement(number, times, TaskSpec(**{"stmt": "x + 1", "setup": "pass", **what}))


OURS = measured(100, [1.234e-4, 1.3e-4, 1.25e-4, 1.2e-4], label="add", sub_label="small", description="ours")
THEIRS = measured(100, [2.5e-4, 2.6e-4, 2.55e-4, 2.5e-4], label="add", sub_label="small", description="theirs")
LARGE = measured(10, [1.234e-3, 1.3e-3, 1.25e-3, 1.2e-3], label="add", sub_label="a much larger one", description="ours")
THREADS = measured(10, [1.234e-3, 1.3e-3, 1.25e-3, 1.2e-3], label="add", sub_label="small", description="ours", num_threads=4)


def test_a_measurement():
    assert OURS.median == pytest.approx(1.242e-6) and OURS.mean == pytest.approx(1.246e-6) and OURS.iqr == pytest.approx(3.7e-8)
    assert OURS.significant_figures == 1 and LARGE.significant_figures == 2 and measured(1, [0.5]).significant_figures == 4
    assert repr(OURS).split("\n")[1:] == ["add: small", "ours", "  Median: 1.24 us", "  IQR:    0.04 us (1.23 to 1.26)",
                                          "  4 measurements, 100 runs per measurement, 1 thread"]
    wild = measured(1, [1.0, 2.0, 9.0, 1.0], setup="a\nb")
    assert wild.has_warnings and not OURS.has_warnings
    assert repr(wild).split("\n", 1)[1] == WILD
    assert repr(measured(1, [0.5], description="z")).split("\n")[-1] == "  1 measurement, 1 runs , 1 thread"
    both, = Measurement.merge([OURS, measured(10, [1e-5], label="add", sub_label="small", description="ours")])
    assert both.times == pytest.approx([*OURS.times, 1e-6])
    assert select_unit(1e-5) == ("us", 1e-6) and select_unit(2.0) == ("s", 1) and trim_sigfig(124.2, 2) == 120


WILD = """\
x + 1
setup:
  a
  b

  Median: 1.50 s
  IQR:    2.75 s (1.00 to 3.75)
  4 measurements, 1 runs per measurement, 1 thread
  WARNING: Interquartile range is 183.3% of the median measurement.
           This suggests significant environmental influence."""


def test_tables():
    table = Compare([OURS, THEIRS, LARGE, THREADS])
    assert str(table) == TABLE
    table.trim_significant_figures()
    table.colorize(rowwise=True)
    lines = str(table).split("\n")
    assert lines[3] == "      small              |  \033[92m\033[1m  1 \033[0m\033[0m  |  \033[2m\033[91m  3   \033[0m\033[0m"
    assert lines[4] == "      a much larger one  |  \033[92m\033[1m120 \033[0m\033[0m  |        "
    with pytest.raises(ValueError, match="Measurement"):
        Compare([1])
    marked = Compare([measured(1, [0.5], label="q", description="z", env="e1", sub_label="s"),
                      measured(1, [0.5, 0.9, 0.2], label="q", description="y", env="env2", sub_label="t")])
    marked.highlight_warnings()
    assert "  (e1)    s  |  500.0  |" in str(marked) and "  (env2)  t  |         |  500.0 (! 70%)" in str(marked)


TABLE = """\
[------------------ add -------------------]
                         |   ours  |  theirs
1 threads: ---------------------------------
      small              |    1.2  |   2.5  
      a much larger one  |  124.2  |        
4 threads: ---------------------------------
      small              |  124.2  |        

Times are in microseconds (us).
"""  # noqa: W291


def test_timers():
    calls, threads = [], []
    names = {"calls": calls, "threads": threads}
    before = torch.get_num_threads()
    found = Timer("calls.append(1)", setup="threads.append(torch.get_num_threads())", globals=names, label="L").timeit(1000)
    assert found.number_per_run == 1000 and len(found.raw_times) == 1 and len(calls) == 1010 and found.task_spec.label == "L"
    assert set(threads) == {1} and torch.get_num_threads() == before
    seen = []
    found = Timer("sum(range(100))").blocked_autorange(callback=lambda n, t: seen.append((n, t)), min_run_time=0.02)
    assert sum(found.raw_times) >= 0.02 and seen == [(found.number_per_run, t) for t in found.raw_times]
    assert 1e-7 < found.median < 1e-3
    slow = Timer("sleep(0.002)", setup="from time import sleep").blocked_autorange(min_run_time=0.01)
    assert 0.002 <= slow.median < 0.1
    assert Timer("pass").adaptive_autorange(max_run_time=0.05).median < 1e-5
    with pytest.raises(NameError, match="nothing"):
        Timer("nothing").timeit(1)
    assert torch.get_num_threads() == before
    with pytest.raises(NotImplementedError, match="Python"):
        Timer("1", language="c++")
