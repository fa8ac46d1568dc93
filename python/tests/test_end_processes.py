"""A few of the runs of end_processes.py: each thing that may be under way, each way to end."""
import concurrent.futures
import os

import end_processes
import pytest

import argand

SEEDS = range(40)
AT_ONCE = min(4, os.cpu_count() or 1)


def test_the_seeds_cover_all():
    cases = [end_processes.Case(seed) for seed in SEEDS]
    assert {kind for case in cases for kind in case.kinds} == set(end_processes.KINDS)
    assert {case.end for case in cases} == set(end_processes.ENDS) and {case.is_cold for case in cases} == {False, True}
    gpu = [end_processes.Case(seed, "cuda") for seed in SEEDS]
    assert {kind for case in gpu for kind in case.kinds} == {*end_processes.KINDS, *end_processes.GPU_KINDS}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    if not argand.distributed.is_gloo_available():
        pytest.skip("libgloo is not installed")
    cache = str(tmp_path_factory.mktemp("cache"))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda seed: end_processes.run(seed, cache=cache), SEEDS))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_process_ends(results, seed):
    case, problems, err = results[seed]
    assert problems == [], f"{case}\n{err}"


@pytest.mark.parametrize("planted, problem", [
    ("import os\nos.abort()", "expected status 0, got -6"),
    ("print('late', file=sys.stderr)", "it says something on stderr"),
    ("class Loud:\n    def __del__(self):\n        raise KeyError(1)\nkept.append(Loud())", "it says something on stderr"),
    ("threading.Thread(target=time.sleep, args=(1000,)).start()", "not ended after 5 s"),
    ("import subprocess\nkept.append(subprocess.Popen(['sleep', '1000'], stderr=subprocess.DEVNULL))", "is left")])
def test_what_is_bad_is_found(monkeypatch, planted, problem):
    monkeypatch.setattr(end_processes, "_stacks_of", lambda process: "")
    monkeypatch.setitem(end_processes.KINDS, "nothing", planted)
    case = end_processes.Case(0)
    assert case.kinds[0] == "nothing" and case.end == "its last line"
    _, problems, _ = end_processes.run(0, longest=5)
    assert any(problem in each for each in problems), problems
