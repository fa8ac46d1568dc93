"""Trainings of several ranks that are killed, started again by torchrun, and end with the bits of one that was let alone."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from launching import free_port, kill, launch, wait_until_gone  # noqa: F401
from ranks import PACKAGE
from statements import says, text_of

import argand

pytestmark = pytest.mark.skipif(not argand.distributed.is_gloo_available(), reason="libgloo is not installed")

TRAINING = """
import hashlib, json, random, threading
import numpy
import argand as torch, argand.distributed as dist
import argand.checkpoint._distributed as d
from argand import nn
from argand.checkpoint import DistributedCheckpointFolder, restore, training_state
from argand.nn.parallel import DistributedDataParallel
from argand.utils.data import DataLoader, Dataset, DistributedSampler

EPOCHS, EVERY, saves, device = 3, 2, os.environ.get("SAVES", "save"), os.environ.get("DEVICE", "cpu")
kills = json.loads(os.environ.get("KILLS", "[]"))
who, where, when = kills[restarts] if restarts < len(kills) else (-1, "", 0)


def killed(here, now=None):
    if (who, where) == (rank, here) and now in (None, when):
        os.kill(os.getpid(), signal.SIGKILL)


class Writing(d.Writing):
    def run(self):
        step = self.generation.step
        killed("before it writes", step)
        if (who, where, when) == (rank, "between its parts", step):
            self._images.insert(1, ("", type("", (), {"write": lambda self, path: killed("between its parts")})()))
        super().run()
        if (who, where, when) == (rank, "after all have written", step):
            while len(os.listdir(self.path)) < 3: time.sleep(0.01)
            killed("after all have written")


class Folder(DistributedCheckpointFolder):
    has_written = False

    def _settle(self, writing):
        self.has_written = True
        super()._settle(writing)
        self.has_written = False

    def _clean(self, *arguments):
        if self.has_written: killed("before it removes", step)
        super()._clean(*arguments)
        if self.has_written: killed("after it has removed", step)


d.Writing = Writing


class Noisy(Dataset):
    def __len__(self): return 40
    def __getitem__(self, i): return torch.full((6,), i / 9) + torch.rand(6) + random.random() + numpy.random.rand(), i % 3


dist.init_process_group("gloo")
size = dist.get_world_size()
torch.manual_seed(rank); random.seed(rank); numpy.random.seed(rank)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 3)).to(device)
own_buffers = "OWN_BUFFERS" in os.environ  # of batch norm: those of each rank's batches
model = DistributedDataParallel(net, broadcast_buffers=not own_buffers)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loader = DataLoader(Noisy(), batch_size=4, sampler=DistributedSampler(Noisy()))
parts = dict(model=net, optimizer=optimizer, scheduler=torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5),
             scaler=torch.amp.GradScaler(device, init_scale=4.0), loader=loader)
folder = Folder(os.environ.get("RUN", "run"), keep=2)
epoch = step = 0
if folder.steps():
    loaded = folder.load_latest(any_world_size=True)
    saved = restore(loaded.state, **parts)
    epoch, step = saved["epoch"], saved["step"]
print("attempt", restarts, "rank", rank, "of", size, "begins at", step, "pid", os.getpid(), flush=True)
if where == "at a time" and who == rank:
    threading.Timer(when, os.kill, (os.getpid(), signal.SIGKILL)).start()


def bits(value):
    if isinstance(value, torch.Tensor): return [str(value.dtype), list(value.shape), value.detach().cpu().numpy().tobytes().hex()]
    if isinstance(value, dict): return [[k, bits(v)] for k, v in value.items()]
    if isinstance(value, (list, tuple)): return [bits(v) for v in value]
    return repr(value)


def digest(value): return hashlib.sha256(json.dumps(bits(value)).encode()).hexdigest()[:16]


def show(): print("parameters", digest(net.state_dict()), "at", step, "on", rank, "of", size, flush=True)


show()
for epoch in range(epoch, EPOCHS):
    loader.sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        parts["scaler"].scale(loss).backward()
        parts["scaler"].step(optimizer); parts["scaler"].update()
        step += 1
        show()
        killed("after a step", step)
        time.sleep(float(os.environ.get("SLEEP", 0)))
        if step % EVERY == 0:
            getattr(folder, saves)(step, training_state(epoch=epoch, step=step, per_rank=["model"] if own_buffers else [], **parts))
    parts["scheduler"].step()
folder.close()
print("rank", rank, "ends at", step, digest(list(net.parameters())), digest(training_state(epoch=epoch, step=step, **parts)), flush=True)
"""


def ends(*runs):
    assert all(run.end(120).code == 0 for run in runs), "\n".join(run.err for run in runs)
    out = "".join(run.out for run in runs)
    lines = sorted(set(re.findall(r"rank \d ends at .*", out)))  # a rank may have ended in an attempt before
    assert len(lines) == 2, out
    return lines


@pytest.fixture(scope="module")
def expected():
    """What a run that is let alone prints at its end, by the way in which it saves."""
    return {}


def of_one_let_alone(launch, expected, saves="save", device="cpu"):  # noqa: F811
    if (saves, device) not in expected:
        expected[saves, device] = ends(launch("--nproc-per-node", 2, "worker.py", program=TRAINING, SAVES=saves, DEVICE=device))
    return expected[saves, device]


def begins(run):
    """At which steps the attempts began; all ranks say the same."""
    said = re.findall(r"attempt (\d+) rank (\d) of \d+ begins at (\d+)", run.out)
    steps = {}
    for attempt, _, step in said:
        assert steps.setdefault(attempt, step) == step, said
    return [int(steps[attempt]) for attempt in sorted(steps)]


CASES = {
    "after steps": ([[1, "after a step", 1], [0, "after a step", 8], [1, "after a step", 15]], [0, 0, 6, 14]),
    "while writing": ([[1, "before it writes", 2], [0, "between its parts", 4], [0, "before it writes", 6]], [0, 0, 2, 4]),
    "when all have written": ([[1, "after all have written", 2], [0, "after all have written", 4], [0, "before it removes", 6]], [0, 2, 4, 6]),
    "while removing": ([[1, "before it removes", 6], [0, "after it has removed", 8], [1, "after it has removed", 10]], [0, 6, 8, 10]),
}


@pytest.mark.parametrize("name", CASES)
def test_killed_and_started_again(launch, expected, name):  # noqa: F811
    kills, starts = CASES[name]
    run = launch("--nproc-per-node", 2, "--max-restarts", 3, "worker.py", program=TRAINING, KILLS=json.dumps(kills))
    assert ends(run) == of_one_let_alone(launch, expected)
    assert begins(run) == starts, run.err
    assert run.err.count("SIGKILL") >= 3
    folder = run._out.name.removesuffix("out") + "run"
    assert sorted(os.listdir(folder)) == ["step-000000012-2-ranks", "step-000000014-2-ranks"]


def test_the_launcher_is_killed_and_started_again(launch, expected, tmp_path):  # noqa: F811
    options = {"program": TRAINING, "RUN": str(tmp_path / "run")}
    first = launch("--nproc-per-node", 2, "worker.py", SLEEP="0.1", **options).until(lambda run: re.search(r"at 5 on \d of 2", run.out))
    kill(first)
    assert first.end().code == -signal.SIGKILL
    assert wait_until_gone([int(pid) for pid in re.findall(r"pid (\d+)", first.out)]) == []
    second = launch("--nproc-per-node", 2, "worker.py", **options)
    assert ends(second) == of_one_let_alone(launch, expected)
    assert begins(second)[0] >= 4


@says("docs/distributed.md", "With `broadcast_buffers=False` this must include the model (`per_rank=[\"model\"]`), because "
      "each rank then has its own batch norm statistics.")
def test_buffers_of_single_ranks(launch):  # noqa: F811
    alone, killed = (launch("--nproc-per-node", 2, "--max-restarts", 1, "worker.py", program=TRAINING, KILLS=kills, OWN_BUFFERS="1")
                     for kills in ("[]", '[[1, "after a step", 5]]'))
    assert ends(killed) == ends(alone)
    assert begins(killed) == [0, 4] and len(set(parameters(alone, 15, 2).values())) == 2


@pytest.mark.skipif(not argand.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("saves", ["save", "save_async"])
def test_on_a_gpu(launch, expected, saves):  # noqa: F811
    """Two ranks on one GPU, whose generators are among what comes back (of dropout), as is the scaler's scale."""
    kills = [[1, "after a step", 5], [0, "between its parts", 8], [0, "after a step", 13]]
    run = launch("--nproc-per-node", 2, "--max-restarts", 3, "worker.py", program=TRAINING, KILLS=json.dumps(kills), SAVES=saves, DEVICE="cuda")
    assert ends(run) == of_one_let_alone(launch, expected, saves, "cuda")
    assert begins(run)[0] == 0 and len(begins(run)) == 4 and begins(run)[1] in (2, 4), run.err


KILLS = int(os.environ.get("ARGAND_KILLS", "3"))


@pytest.mark.parametrize("saves", ["save", "save_async"])
def test_killed_at_random_times(launch, expected, saves):  # noqa: F811
    """ARGAND_KILLS: how often."""
    rng = random.Random(os.environ.get("ARGAND_SEED", 1))
    done = middle = 0
    while done < KILLS:
        count = min(3, KILLS - done)
        kills = [[rng.randrange(2), "at a time", rng.uniform(0, 0.12)] for _ in range(count)]
        run = launch("--nproc-per-node", 2, "--max-restarts", 3, "worker.py", program=TRAINING, KILLS=json.dumps(kills), SAVES=saves)
        assert ends(run) == of_one_let_alone(launch, expected, saves), (kills, run.out, run.err)
        middle += sum(step > 0 for step in begins(run))
        done += count
    print(f"{done} kills, {middle} of them after a save")


def parameters(run, step, size):
    """The digest of each rank's parameters after `step`, in a group of `size`."""
    return {int(rank): digest for digest, rank in re.findall(rf"parameters (\w+) at {step} on (\d) of {size}", run.out)}


def test_fewer_workers_go_on(launch, tmp_path):  # noqa: F811
    """Two workers continue from the state that three had in common; their loaders begin the epoch again."""
    three = launch("--nproc-per-node", 3, "worker.py", program=TRAINING, KILLS='[[2, "after a step", 5]]', RUN=str(tmp_path / "run"))
    assert three.end().code == 1
    two = launch("--nproc-per-node", 2, "worker.py", program=TRAINING, RUN=str(tmp_path / "run"))
    assert two.end().code == 0, two.err
    assert begins(two) == [4]
    assert parameters(two, 4, 2) == dict.fromkeys(range(2), parameters(three, 4, 3)[0])
    assert two.err.count("is of 3 ranks, and this group has 2: left out: random, parts.loader") == 1
    assert f"ends at {4 + 3 * 5}" in two.out and len(set(parameters(two, 19, 2))) == 2


def test_disks_of_two_machines(launch, expected, tmp_path):  # noqa: F811
    """Each has the parts of its rank; what is shared is on one of them."""
    port, kills = free_port(), [[1, "after a step", 5], [0, "between its parts", 8]]
    nodes = [launch("--nnodes", 2, "--node-rank", node, "--master-addr", "127.0.0.1", "--master-port", port, "--max-restarts", 2, "worker.py",
                    program=TRAINING, KILLS=json.dumps(kills), RUN=str(tmp_path / f"disk{node}")) for node in range(2)]
    assert ends(*nodes) == of_one_let_alone(launch, expected)
    assert begins(nodes[0]) == begins(nodes[1]) == [0, 4, 6]
    for node in range(2):
        last = tmp_path / f"disk{node}" / "step-000000014-2-ranks"
        assert sorted(os.listdir(last)) == [f"rank-{node}.pt"] + ["shared.pt"] * (node == 0)


def test_nodes_come_and_go(launch, tmp_path):  # noqa: F811
    """A node joins, and is killed; each time the others go on from the last save, as another world.  Neither counts as a restart."""
    options = "--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{free_port()}", "--rdzv-id", "job", "--rdzv-conf", \
        "last_call_timeout=0.1,keep_alive_interval=1,keep_alive_max_attempt=3,join_timeout=20", "worker.py"
    environment = {"program": TRAINING, "RUN": str(tmp_path / "run"), "SLEEP": "0.2"}
    first = launch(*options, **environment).until(lambda run: re.search(r"at 3 on 0 of 1", run.out))
    second = launch(*options, **environment)
    first.until(lambda run: len(set(re.findall(r"at \d+ on 0 of 2", run.out))) > 3)
    kill(second)
    assert first.end(60).code == 0, first.err
    alone, *_, both, again = re.findall(r"of (\d) begins at (\d+)", first.out)
    assert (alone, both[0], again[0]) == (("1", "0"), "2", "1") and 2 <= int(both[1]) < int(again[1])
    assert parameters(first, both[1], 2) | parameters(second, both[1], 2) == dict.fromkeys(range(2), parameters(first, both[1], 1)[0])
    assert parameters(first, again[1], 1) == {0: parameters(first, again[1], 2)[0]}


# ---- the program of docs/distributed.md

EXAMPLE = re.search(r"^```python\n(import os\nimport sys\n.*?)^```", text_of("docs/distributed.md"), re.S | re.M)[1]
WAYS = {
    "python": [sys.executable],
    "argandrun": [sys.executable, "-m", "argand.distributed.run", "--nproc-per-node", "2"],
    "mpirun": ["mpirun", "--oversubscribe", "-n", "2", sys.executable],
}


def run_example(folder, way, program=EXAMPLE):
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(program)
    env = dict(os.environ, PYTHONPATH=str(PACKAGE), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
    return subprocess.Popen([*WAYS[way], "train.py"], cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish_example(folder, way):
    process = run_example(folder, way)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return (folder / "model.pt").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_the_program_of_the_page(tmp_path, way):
    """Stopped by SIGTERM when a save is there, and run again."""
    if way == "mpirun" and not (argand.distributed.is_mpi_available() and shutil.which("mpirun")):
        pytest.skip("MPI is not installed")
    expected = finish_example(tmp_path / "whole", way)
    interrupted = tmp_path / "interrupted"
    slow = EXAMPLE.replace("step += 1\n", "step += 1; __import__('time').sleep(0.15)\n")  # mpirun passes a signal on a second later
    assert slow != EXAMPLE
    process = run_example(interrupted, way, slow)
    while not (interrupted / "run").exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0 and not (interrupted / "model.pt").exists(), err
    assert finish_example(interrupted, way) == expected
    if way != "python":
        assert expected != finish_example(tmp_path / "alone", "python")
