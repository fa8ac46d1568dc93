"""What torchrun's nodes agree on: argand/distributed/_launch/rounds.py by itself, with a clock of the test's."""
import pytest

from argand.distributed._launch.rounds import Rounds, Rules


class Job:
    """Nodes that say things at times."""

    def __init__(self, **rules):
        self.rules = Rules(**rules)
        self.orders, self.now = [], 100.0
        self.rounds = Rounds(self.rules, self.orders.append, self.now)

    def join(self, *nodes, **about):
        for node in nodes:
            rules = [self.rules.min_nodes, self.rules.max_nodes, self.rules.max_restarts]
            self.say(node, "join", **{"host": f"h{node}", "node_rank": 0, "role": "default", "workers": 2, "rules": rules, **about})
        return self

    def say(self, node, what, **data):
        self.rounds.heard(node, what, data, self.now)
        return self

    def fail(self, node, rank, time, round=0):
        return self.say(node, "failed", round=round, failure={"time": time, "rank": rank, "host": f"h{node}"})

    def after(self, seconds, alive=()):
        """Time passes, with signs of life of some nodes at its end."""
        self.now += seconds
        for node in alive:
            self.rounds.alive(node, self.now, self.now)
        self.rounds.tick(self.now)
        self.rounds.tick(self.now)
        return self

    @property
    def last(self):
        return self.orders[-1] if self.orders else None


def test_ranks():
    job = Job(min_nodes=3, max_nodes=3, is_static=True)
    job.join(7, node_rank=2, role="b").join(8, node_rank=0, role="a", workers=3).after(1)
    assert job.last is None
    job.join(9, node_rank=1, role="b", workers=1).after(0)
    assert job.orders == [{"do": "run", "round": 0, "restarts": 0, "world": 6,
                           "nodes": {8: [0, 0, 0, 3], 9: [1, 3, 0, 3], 7: [2, 4, 1, 3]}}]
    for node in (7, 8, 9):
        assert len(job.orders) == 1
        job.say(node, "done", round=0).after(0)
    assert job.last == {"do": "end", "why": "", "failure": None} and job.rounds.has_ended


def test_a_range_of_nodes():
    """More than the fewest are waited for, for a while; a spare one waits; later nodes are taken in, and restart all."""
    job = Job(min_nodes=1, max_nodes=3, last_call_timeout=30).join(1).after(5, [1]).join(2)
    for _ in range(6):
        job.after(4.9, [1, 2])
    assert job.last is None
    job.after(1, [1, 2])
    assert list(job.last["nodes"]) == [1, 2] and job.last["world"] == 4
    job.join(3).after(0)
    assert (list(job.last["nodes"]), job.last["round"], job.last["restarts"]) == ([1, 2, 3], 1, 0)
    job.join(4).after(0)
    assert len(job.orders) == 2  # there is no place for it
    job.say(2, "leave", why="SIGTERM").after(0)
    assert list(job.last["nodes"]) == [1, 3, 4] and job.last["restarts"] == 0


def test_nodes_that_do_not_come():
    job = Job(min_nodes=2, max_nodes=2, join_timeout=60).join(1)
    for _ in range(12):
        job.after(5, [1])
    assert job.last is None
    job.after(1, [1])
    assert job.last == {"do": "end", "why": "1 of 2 nodes joined within 60 s", "failure": None}


def test_restarts_count_failures():
    job = Job(min_nodes=2, max_nodes=2, max_restarts=1).join(1, 2).after(0)
    job.fail(1, 0, 7.5).after(0, [1, 2])
    assert len(job.orders) == 1  # others of the same moment may come
    job.after(0.5, [1, 2])
    assert (job.last["round"], job.last["restarts"]) == (1, 1)
    job.fail(1, 0, 7.5, round=0).say(2, "done", round=0).after(1)  # of workers that are ended
    assert len(job.orders) == 2
    job.fail(2, 3, 8.5, round=1).after(0.1, [1]).fail(1, 1, 8.25, round=1).after(0.5, [1])
    assert job.last == {"do": "end", "why": "rank 1 on h1 failed", "failure": {"time": 8.25, "rank": 1, "host": "h1"}}


def test_a_finished_node_starts_again_with_the_others():
    job = Job(min_nodes=2, max_nodes=2, max_restarts=1).join(1, 2).after(0).say(1, "done", round=0).fail(2, 2, 1).after(0, [1]).after(1, [1])
    assert job.last["round"] == 1 and list(job.last["nodes"]) == [1, 2]
    job.say(2, "done", round=1).after(1)
    assert len(job.orders) == 2
    job.say(1, "done", round=1).after(0)
    assert job.last["do"] == "end" and job.last["why"] == ""


def test_a_silent_node_is_lost():
    job = Job(min_nodes=1, max_nodes=2, lost_after=6).join(1, 2).after(0)
    for _ in range(3):
        job.after(2, [1, 2])
    for _ in range(3):
        job.after(2, [1])
    assert len(job.orders) == 1
    job.after(2, [1])
    assert (list(job.last["nodes"]), job.last["restarts"]) == ([1], 0)


def test_workers_that_fail_because_a_node_is_lost():
    """That does not count, though they say it before the node is missed."""
    job = Job(min_nodes=1, max_nodes=2, lost_after=6).join(1, 2).after(0).after(1, [1, 2]).fail(1, 0, 7.5)
    for _ in range(3):
        job.after(2, [1])
    assert len(job.orders) == 1
    job.after(1, [1])
    assert (job.last["do"], list(job.last["nodes"]), job.last["restarts"]) == ("run", [1], 0)
    static = Job(min_nodes=2, max_nodes=2, is_static=True, lost_after=6, max_restarts=3).join(1, node_rank=0).join(2, node_rank=1).after(0)
    static.fail(1, 0, 7.5)
    for _ in range(4):
        static.after(2, [1])
    assert static.last["why"] == "the agent on h2 gave no sign of life for 6 s"


def test_a_host_that_was_stopped_has_not_lost_the_others():
    """It could not hear them; from then on they have the usual time."""
    job = Job(min_nodes=1, max_nodes=2, lost_after=6).join(1, 2).after(0).after(60, [1])
    assert len(job.orders) == 1
    for _ in range(2):
        job.after(2, [1])
    assert len(job.orders) == 1
    job.after(2, [1])
    assert list(job.last["nodes"]) == [1]


@pytest.mark.parametrize("restarts, is_static", [(0, False), (0, True), (3, True), (1, False)])
def test_a_lost_node_that_is_needed(restarts, is_static):
    """With restarts left, another may take its place, where nodes have no numbers."""
    job = Job(min_nodes=2, max_nodes=2, max_restarts=restarts, is_static=is_static, join_timeout=60)
    job.join(1, node_rank=0).join(2, node_rank=1).after(0).say(2, "leave", why="SIGTERM").after(0)
    if restarts == 0 or is_static:
        assert job.last["do"] == "end" and job.last["why"] == "the agent on h2 was ended by SIGTERM"
        return
    assert len(job.orders) == 1
    job.join(3).after(1, [1, 3])
    assert (list(job.last["nodes"]), job.last["restarts"]) == ([1, 3], 1)


def test_nodes_that_do_not_fit():
    job = Job(min_nodes=2, max_nodes=2, is_static=True).join(1, node_rank=1).join(2, node_rank=1)
    assert job.last["why"] == "two nodes have --node-rank 1: h1 and h2"
    job = Job(min_nodes=2, max_nodes=2).join(1, rules=[2, 3, 1])
    assert job.last["why"] == "--nnodes and --max-restarts differ: 2:2 and 0 on the node of the store, 2:3 and 1 on h1"


def test_a_thousand_nodes():
    job = Job(min_nodes=1000, max_nodes=1000).join(*range(1, 1001), workers=8).after(0)
    assert job.last["world"] == 8000 and job.last["nodes"][1000] == [999, 7992, 7992, 8000]
    for node in range(1, 1001):
        job.say(node, "done", round=0)
    assert job.after(0).last["do"] == "end"
