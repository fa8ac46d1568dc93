"""A few of the runs of kill_ranks.py: all ways to be lost, in all parts of a program."""
import kill_ranks
import pytest
from launching import SOON

import argand

pytestmark = pytest.mark.skipif(not argand.distributed.is_gloo_available(), reason="libgloo is not installed")

SEEDS = (0, 5, 10, 12, 13, 23, 34, 91)


def test_the_seeds_cover_all():
    cases = [kill_ranks.Case(seed) for seed in SEEDS]
    assert {case.how for case in cases} == set(kill_ranks.HOWS) and {case.part for case in cases} == set(kill_ranks.PARTS)
    assert {case.lost == 0 for case in cases} == {case.is_launched for case in cases} == {False, True}


@pytest.mark.parametrize("seed", SEEDS)
def test_one_rank_is_lost(seed):
    result = kill_ranks.run(seed, within=SOON)
    assert result.problems == [], f"{result.case}\n{result.texts}"
