"""Ranks on several machines: launchers that find each other, interfaces and names, links that fail, are slow, and come back."""
import json
import os
import re
import subprocess
import sys
import textwrap
import time

import machines
import pytest
from launching import SOON
from machines import Machines
from ranks import PACKAGE

import argand

_WHY_NOT = machines.why_not() if argand.distributed.is_gloo_available() else "libgloo is not installed"
pytestmark = pytest.mark.skipif(_WHY_NOT != "", reason=_WHY_NOT)

HEAD = """\
import datetime, os, sys, time
import argand as torch, argand.distributed as dist
sys.stdout.reconfigure(line_buffering=True)
"""
STEPS = """\
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(200, 200))
dist.barrier()
last = time.monotonic()
print("up")
try:
    while True:
        model(torch.ones(2, 200)).sum().backward()
        last = time.monotonic()
except dist.PeerLost as e:
    print(f"lost {e.rank} after {time.monotonic() - last:.2f} s: {e}")
    raise
"""


class Runs:
    """A process on each machine, with what it prints."""

    def __init__(self, nodes, folder, program, command=None, **variables):
        script = folder / "program.py"
        script.write_text(HEAD + textwrap.dedent(program))
        self.nodes, self.processes, self._files = nodes, [], [folder / f"{node.name}.txt" for node in nodes]
        for node, file in zip(nodes, self._files):
            own = {} if command else {"RANK": node.number, "WORLD_SIZE": len(nodes), "LOCAL_RANK": 0, "MASTER_ADDR": "10.100.0.1",
                                      "MASTER_PORT": 29500}
            words = ["-m", "argand.distributed.run", *command(node)] if command else []
            env = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1", **{k: str(v) for k, v in {**own, **variables}.items()}}
            with open(file, "w") as out:
                self.processes.append(node.start(sys.executable, "-B", *words, script, env=env, stdout=out, stderr=subprocess.STDOUT))

    def texts(self):
        return [file.read_text() for file in self._files]

    def until(self, text, times=1, seconds=40):
        """Waits until all have printed it so often."""
        deadline = time.monotonic() + seconds
        while not all(each.count(text) >= times for each in self.texts()):
            assert time.monotonic() < deadline, self.texts()
            time.sleep(0.05)

    def end(self, *statuses, seconds=60):
        """What they printed; they end with these statuses, and nothing of them is left."""
        deadline = time.monotonic() + seconds
        try:
            ended = [process.wait(max(0.1, deadline - time.monotonic())) for process in self.processes]
        except subprocess.TimeoutExpired:
            pytest.fail(f"not ended after {seconds} s: {[node.processes() for node in self.nodes]}\n" + "\n".join(self.texts()))
        assert ended == list(statuses or [0] * len(ended)), "\n".join(self.texts())
        deadline = time.monotonic() + 5
        while (left := [line for node in self.nodes for line in node.processes()]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == []
        return self.texts()


def numbered(count, *more, address="10.100.0.1"):
    return lambda node: ["--nnodes", count, "--node-rank", node.number, "--master-addr", address, *more]


def elastic(nodes, *more, endpoint="node0.cluster:29400"):
    return lambda node: ["--nnodes", nodes, "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint, "--rdzv-id", "job", *more]


# ---- what works


@pytest.mark.parametrize("command, local", [(numbered(2, "--nproc-per-node", 2), 2), (elastic(2), 1), (elastic(3), 1)],
                         ids=["static", "c10d", "three"])
def test_launched_on_several_machines(tmp_path, command, local):
    """All collectives and DistributedDataParallel.  node0.cluster is a name inside only."""
    count = 2 if local == 2 else int(command(None)[1])
    with Machines(count) as nodes:
        texts = Runs(nodes, tmp_path, """
            dist.init_process_group("gloo")
            rank, size, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_WORLD_SIZE"])
            assert rank == int(os.environ["GROUP_RANK"]) * local + int(os.environ["LOCAL_RANK"])
            for n in (3, 300_000):
                def of(r): return torch.arange(n) + r
                total, t = sum(of(r) for r in range(size)), of(rank)
                dist.all_reduce(t); assert t.equal(total)
                t = of(rank); dist.broadcast(t, 1); assert t.equal(of(1))
                t = of(rank); dist.reduce(t, 1); assert rank != 1 or t.equal(total)
                out = [torch.empty(n, dtype=torch.int64) for _ in range(size)]
                dist.all_gather(out, of(rank)); assert all(t.equal(of(r)) for r, t in enumerate(out))
                dist.gather(of(rank), out if rank == 0 else None, 0)
                t = torch.empty(n, dtype=torch.int64); dist.scatter(t, [of(r) for r in range(size)] if rank == 1 else None, 1); assert t.equal(of(rank))
                dist.reduce_scatter(t, [of(r) for r in range(size)]); assert t.equal(of(rank) * size)
                dist.all_to_all(out, [of(10 * rank + r) for r in range(size)]); assert all(t.equal(of(10 * r + rank)) for r, t in enumerate(out))
                if rank == 0: dist.send(of(7), size - 1)
                if rank == size - 1: dist.recv(t, 0); assert t.equal(of(7))
            got = [None] * size; dist.all_gather_object(got, os.uname().nodename); assert len(set(got)) == size // local, got
            pair = dist.new_group([0, size - 1]); t = torch.ones(1)
            if rank in (0, size - 1): dist.all_reduce(t, group=pair); assert float(t) == 2
            torch.manual_seed(rank)
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
            weight = model.module.weight.detach().clone(); dist.broadcast(weight, 0); assert weight.equal(model.module.weight.detach())
            model(torch.full((4, 3), float(rank))).mean().backward()
            assert model.module.weight.grad.tolist() == [[sum(range(size)) / size] * 3]
            dist.barrier(); dist.destroy_process_group(); print("done", rank)
        """, command).end()
    assert sorted(re.findall(r"done (\d)", "".join(texts))) == [str(r) for r in range(count * local)]


BIG_SUM = """
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
    t = torch.ones(500_000); dist.all_reduce(t); assert float(t[0]) == 2
    print("done")
"""


def test_hosts_whose_own_name_is_no_use(tmp_path):
    """Debian gives a host's own name the address 127.0.1.1.  Ranks listen where they reach the store."""
    with Machines(2) as nodes:
        for hosts in ("127.0.1.1 {}\n", ""):
            for node in nodes:
                node.write_hosts(hosts.format(node.name))
            Runs(nodes, tmp_path, BIG_SUM).end()
            Runs(nodes, tmp_path, BIG_SUM, numbered(2)).end()


def sent(node, interface):
    return json.loads(node.do(f"ip -json -statistics link show {interface}"))[0]["stats64"]["tx"]["bytes"]


def test_interfaces(tmp_path):
    """GLOO_SOCKET_IFNAME is where messages go; without it they go where the store is."""
    with Machines(2, networks=2) as nodes:
        for store in (0, 1):
            for chosen in (None, 0, 1):
                before = [sent(nodes[0], f"eth{i}") for i in range(2)]
                variables = {} if chosen is None else {"GLOO_SOCKET_IFNAME": f"eth{chosen}"}
                Runs(nodes, tmp_path, BIG_SUM, MASTER_ADDR=nodes[0].addresses[store], **variables).end()
                used = store if chosen is None else chosen
                bytes_of = [sent(nodes[0], f"eth{i}") - before[i] for i in range(2)]
                assert bytes_of[used] > 1e6 > 2e5 > bytes_of[1 - used], (store, chosen, bytes_of)
        for name in ("eth7", "eth0,eth1"):
            for text in Runs(nodes, tmp_path, BIG_SUM, GLOO_SOCKET_IFNAME=name).end(1, 1):
                assert f"GLOO_SOCKET_IFNAME: expected one interface of this host (eth0, eth1, lo), got '{name}'" in text


# ---- what fails


@pytest.mark.parametrize("lost", [1, 0])
def test_a_machine_that_is_cut_off(tmp_path, lost):
    """Rank 0 holds the store.  The one that is cut off cannot know that it is itself."""
    with Machines(3) as nodes:
        runs = Runs(nodes, tmp_path, STEPS)
        runs.until("up")
        time.sleep(0.5)
        nodes[lost].unplug()
        begin = time.monotonic()
        texts = runs.end(1, 1, 1)
        assert time.monotonic() - begin < 8
        for rank, text in enumerate(texts):
            named, seconds = re.search(r"lost (\d) after (\S+) s", text).groups()
            assert int(named) == (lost if rank != lost else (0 if lost else 1)) and float(seconds) < SOON, texts
        # The network comes back: the same program can be started again.
        nodes[lost].plug_in()
        Runs(nodes[:2], tmp_path, BIG_SUM).end()


def test_a_machine_that_is_cut_off_from_its_launcher(tmp_path):
    """All workers and launchers of both sides end."""
    with Machines(2) as nodes:
        runs = Runs(nodes, tmp_path, STEPS, numbered(2, "--nproc-per-node", 2))
        runs.until("up", 2)
        nodes[1].unplug()
        begin = time.monotonic()
        here, there = runs.end(1, 1)
        assert time.monotonic() - begin < 15
        assert re.search(r"lost [23] after", here) and "lost 0 after" in there and "the store at 10.100.0.1:29500 does not answer" in there


def test_a_machine_without_power(tmp_path):
    """Its connections are not closed: nothing comes from it any more."""
    with Machines(2) as nodes:
        runs = Runs(nodes, tmp_path, STEPS)
        runs.until("up")
        nodes[1].unplug()
        nodes[1].kill_all()
        runs.processes[1].wait()
        assert "lost 1 after" in runs.end(1, runs.processes[1].returncode)[0]


def test_elastic_machines_go_on_without_one(tmp_path):
    program = """
        dist.init_process_group("gloo")
        t = torch.ones(1); dist.all_reduce(t); print(f"{int(t)} are there")
        while True: dist.all_reduce(torch.ones(1)); time.sleep(0.1)
    """
    conf = ("--rdzv-conf", "last_call_timeout=2,keep_alive_max_attempt=3", "--max-restarts", 3)
    with Machines(3) as nodes:
        runs = Runs(nodes, tmp_path, program, elastic("2:3", *conf))
        runs.until("3 are there")
        nodes[2].unplug()
        deadline = time.monotonic() + 40
        while not all("2 are there" in text for text in runs.texts()[:2]):
            assert time.monotonic() < deadline, runs.texts()
            time.sleep(0.1)
        assert runs.processes[2].wait(30) == 1 and nodes[2].processes() == []


def test_a_link_between_two_that_fails(tmp_path):
    """Both reach the store, so neither is lost: the group's timeout ends the wait, for all."""
    with Machines(3) as nodes:
        runs = Runs(nodes, tmp_path, STEPS.replace('("gloo")', '("gloo", timeout=datetime.timedelta(seconds=5))'))
        runs.until("up")
        nodes[1].do(f"ip route add blackhole {nodes[2].address}/32")
        for text in runs.end(1, 1, 1):
            assert re.search(r"rank \d has waited for other ranks for 5 s in all_reduce", text), text


def test_a_store_that_cannot_be_reached(tmp_path):
    program = 'dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=3))'
    with Machines(2) as nodes:
        second = nodes[1:]
        for address, reason in (("10.100.0.77", "No route to host|timed out|Connection timed out"), ("nowhere.cluster", "not known|failure"),
                                ("10.222.0.1", "unreachable")):
            text, = Runs(second, tmp_path, program, WORLD_SIZE=2, MASTER_ADDR=address).end(1)
            assert "DistNetworkError" in text and f"({address}, 29500)" in text and re.search(reason, text), text
            text, = Runs(second, tmp_path, program, numbered(2, "--rdzv-conf", "timeout=2", address=address)).end(1)
            assert "argandrun: " in text and "Traceback" not in text and re.search(reason, text), text


# ---- what only takes longer


def test_a_network_that_comes_back(tmp_path):
    """Before the rank is taken for lost: messages are sent again, and nobody notices."""
    with Machines(2) as nodes:
        runs = Runs(nodes, tmp_path, """
            dist.init_process_group("gloo")
            begin = last = time.monotonic(); longest = 0
            while True:
                t = torch.tensor([time.monotonic() - begin]); dist.all_reduce(t, dist.ReduceOp.MIN); now = time.monotonic()
                longest, last = max(longest, now - last), now
                if dist.get_rank() == 0 and begin + 1 < now < begin + 1.2: print("go")
                done = torch.tensor([float(now - begin > 6)]); dist.broadcast(done, 0)
                if float(done): break
            print(f"done; the longest step took {longest:.1f} s"); assert longest > 0.8
        """)
        while "go" not in runs.texts()[0]:
            time.sleep(0.02)
        nodes[1].unplug()
        time.sleep(1)
        nodes[1].plug_in()
        runs.end()


SLOW = """
    dist.init_process_group("gloo")
    begin = time.monotonic()
    while True:
        t = torch.ones(60_000); dist.all_reduce(t); assert float(t[0]) == 2
        done = torch.tensor([float(time.monotonic() - begin > 10)]); dist.broadcast(done, 0)
        if float(done): break
    print("done")
"""


@pytest.mark.parametrize("queue", ["tbf rate 2mbit burst 16k latency 800ms", "tbf rate 500kbit burst 8k latency 200ms",
                                   "netem delay 300ms 100ms", "netem delay 50ms loss 5%"])
def test_a_slow_link_is_no_loss(tmp_path, queue):
    with Machines(2) as nodes:
        try:
            for node in nodes:
                node.do(f"tc qdisc add dev eth0 root {queue}")
        except OSError as error:
            pytest.skip(f"this kernel cannot: {error}")
        Runs(nodes, tmp_path, SLOW).end(seconds=90)


# ---- the machines themselves


def namespaces():
    return {os.readlink(f"/proc/{pid}/ns/net") for pid in os.listdir("/proc") if pid.isdigit() and os.path.exists(f"/proc/{pid}/ns/net")}


def test_nothing_is_left(tmp_path):
    """After a failure, and where the test's process is killed."""
    program = (f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nfrom machines import Machines\n"
               "with Machines(2) as nodes:\n    nodes[0].start('sleep', '1000')\n    print('up', flush=True)\n    sys.stdin.readline()\n    1 / 0")
    before = namespaces()
    for kill in (False, True):
        made = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert made.stdout.readline() == "up\n" and len(namespaces()) == len(before) + 3
        if kill:
            made.kill()
        assert ("ZeroDivisionError" in made.communicate("\n" if not kill else None, timeout=10)[1]) == (not kill)
        deadline = time.monotonic() + 5
        while namespaces() - before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert namespaces() == before
