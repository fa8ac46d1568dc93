"""torchrun on several nodes: agents of this machine, and many of them in threads."""
import json
import os
import re
import select
import signal
import socket
import threading
import time
from datetime import timedelta

import pytest

from launching import free_port, kill, launch, wait_until_gone  # noqa: F401

import argand.distributed as dist
from argand.distributed._launch.membership import Membership
from argand.distributed._launch.rounds import Rules

SHOWS = "print(rank, os.environ['LOCAL_RANK'], os.environ['GROUP_RANK'], os.environ['WORLD_SIZE'], restarts, flush=True)\n"


def elastic(nodes, port, *more, last_call=1):
    return ["--nnodes", nodes, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{port}", "--rdzv-id", "job",
            "--rdzv-conf", f"last_call_timeout={last_call},keep_alive_interval=1,keep_alive_max_attempt=3,join_timeout=20", *more]


def static(nodes, rank, port, *more):
    return ["--nnodes", nodes, "--node-rank", rank, "--master-addr", "127.0.0.1", "--master-port", port, *more]


def test_numbered_nodes(launch):  # noqa: F811
    """The ranks follow --node-rank, also where nodes have different numbers of workers."""
    port = free_port()
    second = launch(*static(2, 1, port, "--nproc-per-node", 3), "worker.py", program=SHOWS)
    first = launch(*static(2, 0, port, "--nproc-per-node", 2), "worker.py", program=SHOWS + "print(os.environ['MASTER_PORT'])")
    assert (first.end().code, second.end().code) == (0, 0), first.err + second.err
    assert sorted(first.out.splitlines()) == sorted(["0 0 0 5 0", "1 1 0 5 0", str(port), str(port)])
    assert sorted(second.out.splitlines()) == ["2 0 1 5 0", "3 1 1 5 0", "4 2 1 5 0"]


def test_a_failure_ends_all_nodes(launch):  # noqa: F811
    """Which all say the same; the one that is ended for it, too."""
    port, program = free_port(), SHOWS + "time.sleep(0.3)\nif rank == 3: raise ValueError('rank 3 is tired')\ntime.sleep(60)"
    runs = [launch(*elastic(2, port), "--nproc-per-node", 2, "worker.py", program=program) for _ in range(2)]
    for run in runs:
        assert run.end().code == 1
        report = run.err[run.err.rindex("Root Cause"):]
        assert "rank      : 3 (local_rank: 1)" in report and "ValueError: rank 3 is tired" in report


def test_a_restart_is_of_all_nodes(launch, tmp_path):  # noqa: F811
    """Also of one that had finished; ranks stay."""
    program = SHOWS + """
open(os.path.join(os.environ['SEEN'], f"{rank}.{restarts}"), "w").close()
while len(os.listdir(os.environ['SEEN'])) < 4: time.sleep(0.01)
if rank == 1 and restarts == 0: sys.exit(1)
if rank == 0 and restarts == 0: time.sleep(60)
"""
    port, folder = free_port(), tmp_path / "seen"
    folder.mkdir()
    runs = [launch(*elastic(2, port), "--max-restarts", 1, "--nproc-per-node", 2, "worker.py", program=program, SEEN=str(folder))
            for _ in range(2)]
    assert [run.end().code for run in runs] == [0, 0], runs[0].err + runs[1].err
    seen = sorted(line for run in runs for line in run.out.splitlines())
    assert seen == sorted(f"{rank} {rank % 2} {rank // 2} 4 {restart}" for rank in range(4) for restart in range(2))
    assert all(run.err.count("restart 1 of 1: 2 nodes, 4 workers") == 1 for run in runs)


def test_nodes_come_and_go(launch):  # noqa: F811
    """A node that joins, and one that is killed, restart the workers; that does not count.  Each set of nodes has a store of its own."""
    port, program = free_port(), SHOWS + "print('port', os.environ['MASTER_PORT'], flush=True)\ntime.sleep(60)"
    first = launch(*elastic("1:2", port, last_call=0.1), "worker.py", program=program)
    first.until(lambda run: "0 0 0 1 0" in run.out)
    second = launch(*elastic("1:2", port), "worker.py", program=program)
    first.until(lambda run: "0 0 0 2 0" in run.out)
    second.until(lambda run: "1 0 1 2 0" in run.out)
    kill(second)
    first.until(lambda run: run.out.count("0 0 0 1 0") == 2)
    assert first.err.count("the nodes have changed") == 2
    ports = re.findall(r"port (\d+)", first.out)
    assert len(set(ports)) == 3 and int(ports[0]) == port
    kill(first, signal.SIGTERM)
    assert first.end().code == 143


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_host_of_the_store_is_gone(launch, number):  # noqa: F811
    port, program = free_port(), "print('up', os.getpid(), flush=True)\ntime.sleep(60)"
    first = launch(*static(2, 0, port), "worker.py", program=program)
    second = launch(*static(2, 1, port, "--rdzv-conf", "keep_alive_max_attempt=2"), "worker.py", program=program)
    second.until(lambda run: re.search(r"up \d+\n", run.out))
    pid = int(re.search(r"up (\d+)\n", second.out)[1])
    start = time.monotonic()
    kill(first, number)
    assert second.end().code == 1 and f"the store at 127.0.0.1:{port} " in second.err and time.monotonic() - start < 10
    assert wait_until_gone([pid], 0) == []


def test_a_signal_at_one_node_ends_all(launch):  # noqa: F811
    for number in (0, 1):
        port = free_port()
        runs = [launch(*static(2, rank, port), "worker.py", program="print('up', flush=True)\ntime.sleep(60)") for rank in range(2)]
        for run in runs:
            run.until(lambda run: "up" in run.out)
        kill(runs[number], signal.SIGTERM)
        assert runs[number].end().code == 143
        assert runs[1 - number].end().code == 1 and "was ended by SIGTERM" in runs[1 - number].err


def test_nodes_that_do_not_fit(launch):  # noqa: F811
    port = free_port()
    runs = [launch(*static(2, node, port), "--max-restarts", node, "worker.py") for node in range(2)]
    for run in runs:
        assert run.end().code == 1 and "--nnodes and --max-restarts differ: 2:2 and 0 on the node of the store, 2:2 and 1" in run.err
    run = launch(*elastic(2, free_port()), "--rdzv-conf", "join_timeout=1", "worker.py").end()
    assert run.code == 1 and "1 of 2 nodes joined within 1 s" in run.err
    run = launch(*static(2, 1, free_port()), "--rdzv-conf", "timeout=1", "worker.py").end()
    assert run.code == 1 and run.err.startswith("argandrun: ") and "Traceback" not in run.err


COUNT = 16


class Node(threading.Thread):
    """An agent without workers: rank 21 fails in the first round."""

    def __init__(self, port, store):
        super().__init__(daemon=True)
        self._port, self._store, self.seen, self.error = port, store, [], None

    def run(self):
        try:
            self._take_part()
        except Exception as error:
            self.error = error

    def _connect(self):
        if self._store is not None:
            return self._store, True
        return dist.TCPStore("localhost", self._port, None, False, timeout=timedelta(seconds=20), wait_for_workers=False), False

    def _take_part(self):
        about = {"host": "h", "node_rank": 0, "role": "r", "workers": 2}
        node = Membership(self._connect, "job", Rules(COUNT, COUNT, 1), about, 0.05)
        while not self.seen or self.seen[-1]["do"] == "run":
            select.select([node.ready], [], [], 20)
            order = node.order()
            if order is None:
                continue
            self.seen.append(order)
            if order["do"] == "run":
                _, first, _, _ = order["nodes"][str(node.id)]
                if order["round"] == 0 and first == 20:
                    node.say("failed", {"round": 0, "failure": {"time": 1.0, "rank": 21, "host": "h"}})
                else:
                    node.say("done", {"round": order["round"]})
        node.close()


def test_sixteen_nodes():
    store = dist.TCPStore("localhost", 0, None, True, timeout=timedelta(seconds=20), wait_for_workers=False)
    nodes = [Node(store.port, store if i == 0 else None) for i in range(COUNT)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join(30)
    assert [node.error for node in nodes] == [None] * COUNT
    for node in nodes:
        assert [order["do"] for order in node.seen] == ["run", "run", "end"]
        assert [order["restarts"] for order in node.seen[:2]] == [0, 1] and node.seen[2]["why"] == ""
        assert node.seen == nodes[0].seen and node.seen[0]["world"] == 2 * COUNT
        assert sorted(place[1] for place in node.seen[0]["nodes"].values()) == list(range(0, 2 * COUNT, 2))


def test_the_host_waits_for_a_node_that_was_there_first():
    """Its first words may be the last order; who is there must be able to read it."""
    about = {"host": "h", "node_rank": 0, "role": "r", "workers": 2}
    store = dist.TCPStore("localhost", 0, None, True, timeout=timedelta(seconds=20), wait_for_workers=False)
    store.add("job/alive/7", 1)
    store.add("job/said", 1)
    store.set("job/said/1", json.dumps([7, "join", {**about, "rules": [2, 2, 9]}]))
    node = Membership(lambda: (store, True), "job", Rules(2, 2, 1, close_timeout=1), about, 0.05)
    select.select([node.ready], [], [], 20)
    start = time.monotonic()
    assert node.order()["do"] == "end"
    node.close()
    assert time.monotonic() - start > 0.9


def test_a_node_that_cannot_start_workers(launch):  # noqa: F811
    """The others do not wait until it is lost."""
    port, program = free_port(), "time.sleep(60)"
    first = launch(*static(2, 0, port), "worker.py", program=program)
    second = launch(*static(2, 1, port), "--nproc-per-node", 2, "--virtual-local-rank", "worker.py", CUDA_VISIBLE_DEVICES="3",
                    program=program)
    assert second.end().code == 2 and "local rank 1 has no GPU" in second.err
    assert first.end().code == 1 and "was ended by ValueError: --virtual-local-rank: local rank 1 has no GPU" in first.err


def test_ctrl_c_while_the_store_is_not_there(launch):  # noqa: F811
    run = launch(*static(2, 1, free_port()), "worker.py")
    time.sleep(1.5)
    kill(run, signal.SIGINT)
    assert run.end(10).code in (130, -signal.SIGINT)  # the interpreter's own, where it has not loaded all yet


def test_a_port_that_is_taken_for_a_moment(launch):  # noqa: F811
    """Neither agent can host the store at first; one of them does later."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        runs = [launch("--nnodes", 2, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "taken", "--rdzv-conf",
                       "join_timeout=20", "worker.py", program="print('ran')") for _ in range(2)]
        time.sleep(1.5)
    assert [run.end().code for run in runs] == [0, 0], runs[0].err + runs[1].err
