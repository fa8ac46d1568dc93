#!/usr/bin/env python3
"""Short programs that end while something is under way: does each end as it should, and say nothing?

    PYTHONPATH=build/release/python build/venv/bin/python -B python/tests/end_processes.py [--runs 1000] [--seed 0] [--jobs 2]
        [--device cuda]

A seed decides what is under way (KINDS: a compilation, workers of a loader, threads that draw random numbers, copies, backward,
hooks, a process group, a profiler, ...), often two of them, how the process ends (its last line, sys.exit, an exception, SIGINT,
SystemExit in a thread, work in an atexit function), and after which time; every second run has a cold cache of kernels.  Bad is
another status than the program's own, any output on stderr that is not the traceback of its own exception, a process that is
left, and one that does not end within --longest seconds.  The seed of each failure is printed.

--device cuda does the same on a GPU that is kept busy, and adds what only GPUs have; ARGAND_CUDA_DRY_RUN=1 pretends one.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid

from marked_processes import processes_of

# What is under way, each as the body of a function of `device`.  It may start threads, and returns soon.
KINDS = {
    "nothing": "pass",
    "random numbers in threads": """
def draw():
    while True:
        torch.randn(1000, device=device) + torch.rand(1000, device=device)
for _ in range(3):
    daemon(draw)
""",
    "large ops in a thread": """
a = torch.ones(300, 300, device=device)
def work():
    while True:
        (a @ a).exp_().sum()
daemon(work)
""",
    "copies in threads": """
source = torch.ones(1 << 20)
def work():
    while True:
        source.to(device, non_blocking=True).cpu()
        source.clone().to(torch.float64)
for _ in range(2):
    daemon(work)
""",
    "backward in a thread": """
model = torch.nn.Sequential(*(torch.nn.Linear(50, 50) for _ in range(5))).to(device)
def work():
    while True:
        model(torch.ones(8, 50, device=device)).sum().backward()
daemon(work)
""",
    "hooks": """
held = []
w = torch.ones(10, device=device, requires_grad=True)
w.register_hook(lambda g: held.append(g) or g * 2)
model = torch.nn.Linear(10, 10).to(device)
model.register_forward_hook(lambda m, i, o: held.append(o))
model.register_full_backward_hook(lambda m, i, o: None)
torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: None)
def work():
    while True:
        model(w.expand(4, 10)).sum().backward()
        del held[:-5]
daemon(work)
""",
    "a function of its own": """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
kept.append(Twice.apply(torch.ones(5, device=device, requires_grad=True)).sum())
def work():
    while True:
        Twice.apply(torch.ones(500, device=device, requires_grad=True)).sum().backward()
daemon(work)
""",
    "a compilation": """
def work():
    for n in range(1, 100000):
        f = torch.compile(lambda x, n=n: (x * n).sin() + x.exp() / n)
        f(torch.ones(n, device=device))
daemon(work)
""",
    "workers of a loader": """
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 10000
    def __getitem__(self, i):
        return torch.full((100,), float(i))
loader = torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=2, persistent_workers=True)
it = iter(loader)
next(it)
kept.extend([loader, it])
""",
    "a loader read in a thread": """
data = torch.utils.data.TensorDataset(torch.ones(10000, 4))
def work():
    while True:
        for (x,) in torch.utils.data.DataLoader(data, batch_size=16, num_workers=1, shuffle=True):
            x.sum()
daemon(work)
""",
    "a process group": """
import argand.distributed as dist
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(20, 20))
def work():
    while True:
        model(torch.ones(4, 20)).sum().backward()
        dist.all_reduce(torch.ones(1000))
daemon(work)
kept.append(dist.all_reduce(torch.ones(5), async_op=True))
""",
    "a profiler": """
profiler = torch.profiler.profile()
profiler.__enter__()
kept.append(profiler)
def work():
    while True:
        torch.ones(100, device=device).add(1).sum()
daemon(work)
""",
    "files being written": """
def work():
    while True:
        torch.save({"x": torch.ones(100000, device=device)}, folder + "/saved.pt")
        torch.load(folder + "/saved.pt")
daemon(work)
""",
    "a pool of threads": """
import concurrent.futures
pool = concurrent.futures.ThreadPoolExecutor(4)
kept.extend(pool.submit(lambda: torch.ones(10000, device=device).sum().item()) for _ in range(50))
""",
    "memory that others show": """
import numpy
x = torch.ones(1000)
kept.extend([x.numpy(), torch.from_numpy(numpy.ones(10)), x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), memoryview(x.numpy())])
torch.from_file(folder + "/file", True, 1000).fill_(1)
kept.append(torch.from_file(folder + "/file", True, 1000))
kept.append(torch.ones(10).share_memory_())
""",
    "objects that end last": """
class Last:
    def __init__(self):
        self.x = torch.ones(10, device=device, requires_grad=True)
    def __del__(self):
        (self.x * 2).sum().backward()
kept.append(Last())
import builtins
builtins.kept_for_ever = torch.ones(10, device=device)
""",
    "futures and jobs": """
future = torch.futures.Future()
future.then(lambda f: f.value())
kept.append(future)
def work():
    while True:
        torch.jit.wait(torch.jit.fork(lambda: torch.ones(10).sum()))
daemon(work)
""",
}
GPU_KINDS = {
    "streams and events": """
streams = [torch.cuda.Stream() for _ in range(3)]
def work(s):
    while True:
        with torch.cuda.stream(s):
            a = torch.ones(1000, device=device) * 2
            event = s.record_event()
            torch.cuda.current_stream().wait_event(event)
for s in streams:
    daemon(lambda s=s: work(s))
""",
    "a graph": """
x = torch.ones(1000, device=device)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = x * 2 + 1
kept.extend([g, y])
def work():
    while True:
        g.replay()
daemon(work)
""",
    "page-locked copies": """
host = torch.ones(1 << 20).pin_memory()
def work():
    while True:
        host.to(device, non_blocking=True)
        torch.ones(1 << 20, device=device).to("cpu", non_blocking=True)
daemon(work)
""",
}

# How it ends: the last lines, and the status that they stand for.
ENDS = {
    "its last line": ("pass", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise KeyError('on purpose')", 1),
    "SIGINT": ("signal.raise_signal(signal.SIGINT)\ntime.sleep(60)", -signal.SIGINT),
    "sys.exit in a thread": ("t = threading.Thread(target=sys.exit, args=(5,))\nt.start()\nt.join()", 0),
    "work at exit": ("atexit.register(lambda: print(int((torch.ones(100, device=device) + 1).sum())))", 0),
    "an exception at exit": ("def fail():\n    raise KeyError('on purpose')\natexit.register(fail)", 0),
    "work in a thread that is not awaited": (
        "def late():\n    for _ in range(20):\n        torch.ones(1000, device=device).exp().sum()\nthreading.Thread(target=late).start()", 0),
}

PROGRAM = """
import atexit, signal, sys, threading, time
import argand as torch
device, folder, delay, kept = sys.argv[1], sys.argv[2], float(sys.argv[3]), []


def daemon(work):
    threading.Thread(target=work, daemon=True).start()


BUSY
STARTS
time.sleep(delay)
ENDS
"""
# Large products, one behind the other, more than the GPU ends before the program does.
BUSY = """
large = torch.ones(4096, 4096, device=device)
for _ in range(100):
    large = (large @ large).clamp_(0, 1)
"""


class Case:
    """What a seed stands for."""

    def __init__(self, seed, device="cpu"):
        draw = random.Random(seed)
        kinds = [*KINDS, *GPU_KINDS] if device == "cuda" else [*KINDS]
        self.seed, self.device = seed, device
        # In turn, so that few runs have all; the second one is drawn.
        self.kinds = [kinds[seed % len(kinds)]]
        if draw.random() < 0.5:
            self.kinds.append(draw.choice([kind for kind in kinds if kind not in self.kinds]))
        self.end = [*ENDS][seed // 2 % len(ENDS)]
        self.delay = draw.choice((0, draw.uniform(0, 0.01), draw.uniform(0, 0.2)))
        self.is_cold = draw.random() < 0.5

    def __str__(self):
        return (f"seed {self.seed}: {self.end} {self.delay:.3f} s into {' and '.join(self.kinds)}"
                + (", cold cache" if self.is_cold else ""))

    def program(self):
        bodies = {**KINDS, **GPU_KINDS}
        started = "".join(f"def start{i}():\n" + "".join(f"    {line}\n" for line in bodies[kind].splitlines()) + f"start{i}()\n"
                          for i, kind in enumerate(self.kinds))
        return (PROGRAM.replace("BUSY", BUSY if self.device == "cuda" else "").replace("STARTS", started)
                .replace("ENDS", ENDS[self.end][0]))

    def judge(self, status, err):
        """Sentences about what is wrong."""
        problems = []
        if status != ENDS[self.end][1]:
            problems.append(f"expected status {ENDS[self.end][1]}, got {status}")
        expected = {"an exception": "KeyError: 'on purpose'", "an exception at exit": "KeyError: 'on purpose'",
                    "SIGINT": "KeyboardInterrupt"}.get(self.end)
        if expected is None and err:
            problems.append("it says something on stderr")
        elif expected and (not err.rstrip().endswith(expected) or err.count("Traceback (most recent call last)") != 1):
            problems.append("it says something else on stderr than its traceback")
        return problems


def run(seed, device="cpu", longest=120, cache=None):
    """(Case, problems, output) of one seed.  cache: the folder of a warm cache of kernels."""
    case, mark = Case(seed, device), f"end-{uuid.uuid4().hex}"
    folder = tempfile.mkdtemp(prefix="end-")
    places = {"ARGAND_CACHE_DIR": f"{folder}/cache"} if case.is_cold or cache is None else {"ARGAND_CACHE_DIR": cache}
    process = subprocess.Popen([sys.executable, "-B", "-c", case.program(), device, folder, str(case.delay)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "END_PROCESSES": mark, **places})
    try:
        try:
            err = process.communicate(timeout=longest)[1]
            problems = case.judge(process.returncode, err)
        except subprocess.TimeoutExpired:
            problems, err = [f"not ended after {longest} s"], _stacks_of(process)
        problems += [f"process {pid} is left" for pid in _left(mark, process.pid)]
    finally:
        for pid in processes_of(mark):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
        shutil.rmtree(folder, ignore_errors=True)
    return case, problems, err


def _left(mark, own):
    """Workers see that their parent has gone, which takes them a moment."""
    import time
    until = time.monotonic() + 10
    while (left := [pid for pid in processes_of(mark) if pid != own]) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _stacks_of(process):
    """Where its threads wait, where a debugger is at hand."""
    if not shutil.which("gdb"):
        return ""
    return subprocess.run(["gdb", "-batch", "-p", str(process.pid), "-ex", "thread apply all bt 25"], capture_output=True, text=True,
                          timeout=120).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; the others follow")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--longest", type=float, default=120, help="seconds until a process counts as hanging")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what a run has started ends with it
    failed, counts = [], {}
    with tempfile.TemporaryDirectory(prefix="end-cache-") as cache, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, problems, err in pool.map(lambda seed: run(seed, args.device, args.longest, cache),
                                            range(args.seed, args.seed + args.runs)):
            for kind in (*case.kinds, case.end):
                counts[kind] = counts.get(kind, 0) + 1
            if problems:
                failed.append(case.seed)
                print(f"FAILED: {case}\n  " + "\n  ".join(problems) + f"\n---- stderr\n{err}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    print(f"{args.runs - len(failed)} passed, {len(failed)} failed" + (f": seeds {failed}" if failed else ""))
    return failed != []


if __name__ == "__main__":
    sys.exit(main())
