#!/usr/bin/env python3
"""Short programs of 2 to 4 ranks, of which one is killed at a random time: what happens to the others?

    PYTHONPATH=build/release/python build/venv/bin/python -B python/tests/kill_ranks.py [--runs 200] [--seed 0] [--within 5]

A seed decides how many ranks there are, which one is lost and how (SIGKILL, SIGSTOP, SIGTERM, exit, an exception), in which
part of the program (joining, collectives, the backward of DistributedDataParallel, a checkpoint, leaving) and when in it, and
whether `argandrun` started them.  Every other rank must raise an error that names the lost one within --within seconds, or
end well if the lost one had made its last call; nothing may be left of any.  The seed of each failure is printed.
"""
import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from marked_processes import processes_of

PARTS = ("joining", "collectives", "backward", "checkpoint", "leaving")
HOWS = ("SIGKILL", "SIGSTOP", "SIGTERM", "exit", "exception")
TIMEOUT = 15  # of a rank that does not come: it cannot be told from one that is late

# Times are of one clock for all processes.
PROGRAM = '''
import datetime, os, signal, sys, threading, time
import argand as torch, argand.distributed as dist

rank, lost, how, lost_in, delay = int(os.environ["RANK"]), int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
folder = sys.argv[5]
log = os.open(f"{folder}/rank{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
now_in = "start"


def say(*words):
    os.write(log, (" ".join(str(word) for word in (*words[:1], time.monotonic(), *words[1:])).replace("\\n", " ") + "\\n").encode())


def end(*_):
    say("killed", now_in)
    if how == "exit":
        os._exit(3)
    if how == "exception":
        raise KeyError("on purpose")
    os.kill(os.getpid(), getattr(signal, how))


def part(name):
    global now_in
    now_in = name
    say("part", name)
    if rank == lost and name == lost_in:
        if how == "exception":
            signal.signal(signal.SIGALRM, end)
            signal.setitimer(signal.ITIMER_REAL, delay)
        else:
            timer = threading.Timer(delay, end)
            timer.daemon = True
            timer.start()


def collectives(size):
    for i in range(40):
        t = torch.ones(200_000 if i % 5 == 0 else 3)
        dist.all_reduce(t)
        assert float(t[0]) == size
        dist.broadcast(t, i % size)
        dist.all_gather([torch.empty(2) for _ in range(size)], torch.ones(2))
        if i % 8 == 0:
            dist.all_gather_object([None] * size, {"rank": rank})
            dist.barrier()


def backward():
    model = torch.nn.Sequential(*(torch.nn.Linear(100, 100) for _ in range(5)))
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        optimizer.zero_grad()
        model(torch.randn(4, 100)).square().mean().backward()
        optimizer.step()
    return model


def checkpoint(model):
    path = f"{folder}/checkpoint.pt"
    for _ in range(3):
        if rank == 0:
            torch.save(model.module.state_dict(), path)
        dist.barrier()
        model.module.load_state_dict(torch.load(path))
        dist.barrier()


try:
    part("joining")
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=TIMEOUT))
    part("collectives")
    collectives(dist.get_world_size())
    part("backward")
    model = backward()
    part("checkpoint")
    checkpoint(model)
    part("leaving")
    dist.barrier()
    dist.destroy_process_group()
    part("end")
    if rank == lost:
        time.sleep(5)  # so that it is lost at last
except dist.DistError as error:
    say("error", type(error).__name__, getattr(error, "rank", -1), error)
    raise
say("finished")
'''.replace("TIMEOUT", str(TIMEOUT))


class Case:
    """What a seed stands for."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed, self.size = seed, draw.randint(2, 4)
        self.lost, self.how, self.part = draw.randrange(self.size), draw.choice(HOWS), draw.choice(PARTS)
        self.delay = draw.uniform(0, {"joining": 0.15, "leaving": 0.03}.get(self.part, 0.3))
        self.is_launched = draw.random() < 0.25

    def __str__(self):
        return (f"seed {self.seed}: rank {self.lost} of {self.size}, {self.how} {self.delay:.3f} s into {self.part}"
                + (", by argandrun" if self.is_launched else ""))

    def start(self, folder, environment):
        (folder / "program.py").write_text(PROGRAM)
        words = [folder / "program.py", self.lost, self.how, self.part, self.delay, folder / "logs"]
        if self.is_launched:
            words = ["-m", "argand.distributed.run", "--nproc-per-node", self.size, "--shutdown-timeout", 2, *words]
        own = [{}] if self.is_launched else [
            {"RANK": rank, "WORLD_SIZE": self.size, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port}
            for free_port in [_free_port()] for rank in range(self.size)]
        with open(folder / "output", "w") as output:
            return [subprocess.Popen([sys.executable, "-B", *map(str, words)], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                     env={**environment, **{k: str(v) for k, v in each.items()}}) for each in own]


def _free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _lines(folder, rank):
    """{first word: the rest of its last line}."""
    path = folder / f"rank{rank}"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines}


class Result:
    """problems: sentences, none if all is well; slowest: seconds until the last error."""

    def __init__(self, case, within):
        self.case, self.within, self.problems, self.slowest, self.texts = case, within, [], 0.0, ""

    def judge(self, folder):
        case = self.case
        kill = _lines(folder, case.lost).get("killed")
        if kill is None:
            self.problems.append(f"rank {case.lost} was not killed")
            return
        killed, part = kill.split()
        for rank in set(range(case.size)) - {case.lost}:
            lines = _lines(folder, rank)
            if "error" in lines:
                self._judge_error(rank, part, float(killed), lines["error"])
            elif "finished" in lines:
                if part not in ("leaving", "end"):
                    self.problems.append(f"rank {rank} ended well, but rank {case.lost} was lost in {part}")
            elif not case.is_launched:
                self.problems.append(f"rank {rank} raised nothing")

    def _judge_error(self, rank, part, killed, line):
        lost = self.case.lost
        raised, kind, named, text = line.split(" ", 3)
        seconds = float(raised) - killed
        if part in ("start", "joining") and kind != "PeerLost":  # it, or the store that it holds, never came
            if seconds > TIMEOUT + self.within:
                self.problems.append(f"rank {rank}: {seconds:.2f} s: {text}")
            return
        self.slowest = max(self.slowest, seconds)
        if kind != "PeerLost" or int(named) != lost:
            self.problems.append(f"rank {rank}: expected PeerLost of rank {lost}, got {kind} of {named}: {text}")
        if seconds > self.within:
            self.problems.append(f"rank {rank}: only after {seconds:.2f} s: {text}")


def run(seed, within=5.0, longest=60):
    """The Result of one seed."""
    case, mark = Case(seed), f"kill-{uuid.uuid4().hex}"
    result = Result(case, within)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kill-"))
    (folder / "logs").mkdir()
    (folder / "tmp").mkdir()
    environment = {**os.environ, "KILL_RANKS": mark, "TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1"}
    shared = set(os.listdir("/dev/shm"))
    started = []
    try:
        started = case.start(folder, environment)
        pids = {each.pid for each in started}
        deadline = time.monotonic() + longest
        waits_for = [p for rank, p in enumerate(started) if case.is_launched or rank != case.lost]
        for each in waits_for:
            try:
                if case.is_launched and case.how == "SIGSTOP":  # where it made its last call, the launcher waits for it
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        each.wait(within + 5)
                    for pid in processes_of(mark):
                        os.kill(pid, signal.SIGCONT)
                each.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                result.problems.append(f"not ended after {longest} s")
                break
        pids |= set(processes_of(mark))
        if not case.is_launched and case.how == "SIGSTOP":
            while "killed" not in _lines(folder / "logs", case.lost) and time.monotonic() < deadline:
                time.sleep(0.02)
            started[case.lost].kill()
        if not case.is_launched:
            started[case.lost].wait(10)
        left = [pid for pid in processes_of(mark) if pid not in {p.pid for p in started if p.poll() is not None}]
        time_left = time.monotonic() + 3
        while left and time.monotonic() < time_left:
            time.sleep(0.02)
            left = processes_of(mark)
        if left:
            result.problems.append(f"processes are left: {left}")
        if files := os.listdir(folder / "tmp"):
            result.problems.append(f"files are left: {files}")
        if files := [name for name in set(os.listdir("/dev/shm")) - shared if any(str(pid) in name for pid in pids)]:
            result.problems.append(f"shared memory is left: {files}")
        result.judge(folder / "logs")
        if result.problems:
            result.texts = "".join(f"---- rank {r}\n{(folder / 'logs' / f'rank{r}').read_text()}" for r in range(case.size)
                                   if (folder / "logs" / f"rank{r}").exists()) + "---- output\n" + (folder / "output").read_text()
    finally:
        for each in started:
            each.kill()
            each.wait()
        for pid in processes_of(mark):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; the others follow")
    parser.add_argument("--within", type=float, default=5, help="seconds until every other rank must have raised")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what a run has started ends with it
    failed, slowest, counts = [], (0.0, 0), {}
    for seed in range(args.seed, args.seed + args.runs):
        result = run(seed, args.within)
        slowest = max(slowest, (result.slowest, seed))
        for kind in (result.case.how, result.case.part):
            counts[kind] = counts.get(kind, 0) + 1
        if result.problems:
            failed.append(seed)
            print(f"FAILED: {result.case}\n  " + "\n  ".join(result.problems) + f"\n{result.texts}", flush=True)
    print(", ".join(f"{counts[kind]} {kind}" for kind in (*HOWS, *PARTS) if kind in counts))
    print(f"the last rank raised after {slowest[0]:.2f} s (seed {slowest[1]})")
    print(f"{args.runs - len(failed)} passed, {len(failed)} failed" + (f": seeds {failed}" if failed else ""))
    return failed != []


if __name__ == "__main__":
    sys.exit(main())
