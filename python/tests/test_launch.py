"""torchrun on one node: what workers get, what they print, how they end.  Workers do not import the library where they need not."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from launching import COMMAND, SOON, is_gone, kill, launch, wait_until_gone  # noqa: F401

import argand.distributed as dist
from argand.distributed.launcher.api import LaunchConfig, elastic_launch

STOPS = "print('up', os.getpid(), flush=True); time.sleep(60)"


def pids_of(text):
    return [int(pid) for pid in re.findall(r"up (\d+)\n", text)]


# ---- what workers get


def test_the_environment_of_workers(launch):  # noqa: F811
    """That of PyTorch 2.15, by `python -m torch.distributed.run --nproc-per-node 2`."""
    run = launch("--nproc-per-node", 2, "--role", "trainer", "--max-restarts", 1, "worker.py", "--an", "argument", OMP_NUM_THREADS=None,
                 program="import json\njson.dump([sys.argv, dict(os.environ)], open(f'{rank}.json', 'w'))").end()
    assert run.code == 0, run.err
    folder = os.path.dirname(run._out.name)
    port = None
    for rank in (0, 1):
        with open(os.path.join(folder, f"{rank}.json")) as file:
            arguments, got = json.load(file)
        assert arguments == ["worker.py", "--an", "argument"]
        port = port or got["MASTER_PORT"]
        expected = {
            "LOCAL_RANK": str(rank), "RANK": str(rank), "GROUP_RANK": "0", "ROLE_RANK": str(rank), "ROLE_NAME": "trainer",
            "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "2", "GROUP_WORLD_SIZE": "1", "ROLE_WORLD_SIZE": "2", "MASTER_ADDR": "localhost",
            "MASTER_PORT": port, "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "1",
            "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_SIGNALS_TO_HANDLE": "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
            "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1", "OMP_NUM_THREADS": "1"}
        assert {name: got.get(name) for name in expected} == expected
        assert int(port) > 0 and got["TORCHELASTIC_RUN_ID"]
        assert got["TORCHELASTIC_ERROR_FILE"].endswith(f"/attempt_0/{rank}/error.json")
        assert not os.path.exists(got["TORCHELASTIC_ERROR_FILE"].partition("/attempt_0")[0])  # nothing is left
    assert "OMP_NUM_THREADS is 1" in run.err


def test_options_from_the_environment(launch):  # noqa: F811
    run = launch("worker.py", program="print(os.environ['WORLD_SIZE'], os.environ['ROLE_NAME'], rank, flush=True)",
                 PET_NPROC_PER_NODE="3", PET_ROLE="abc", PET_STANDALONE="1", PET_TEE="1", PET_LOG_LINE_PREFIX_TEMPLATE="${role_name}-${rank}> ")
    assert run.end().code == 0, run.err
    assert sorted(run.out.splitlines()) == [f"abc-{rank}> 3 abc {rank}" for rank in range(3)]


def test_a_virtual_local_rank(launch):  # noqa: F811
    run = launch("--nproc-per-node", 2, "--virtual-local-rank", "worker.py", CUDA_VISIBLE_DEVICES="5,7",
                 program="print(rank, os.environ['LOCAL_RANK'], os.environ['CUDA_VISIBLE_DEVICES'])")
    assert run.end().code == 0 and sorted(run.out.splitlines()) == ["0 0 5", "1 0 7"]
    run = launch("--nproc-per-node", 2, "--virtual_local_rank", "worker.py", CUDA_VISIBLE_DEVICES="5").end()
    assert run.code == 2 and "local rank 1 has no GPU among CUDA_VISIBLE_DEVICES=5" in run.err


WAYS = {
    "module": (["-m", "worker", "a b"], "worker.py a b"),
    "no python": (["--no-python", "sh", "-c", "echo sh $0 ${local_rank}", "a b"], "sh a b 0"),
    "run path": (["--run-path", "--start-method", "fork", "worker.py", "a b"], "worker.py a b"),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_run(launch, way):  # noqa: F811
    arguments, printed = WAYS[way]
    run = launch("--standalone", *arguments, program="print(os.path.basename(sys.argv[0]), *sys.argv[1:])").end()
    assert (run.code, run.out) == (0, printed + "\n"), run.err


@pytest.mark.parametrize("command", [["-m", "argand", "-m", "torch.distributed.run"],
                                     ["-c", "import sys; from argand._torch.launch import argandrun; sys.exit(argandrun())"]])
def test_workers_are_argands_where_the_launcher_is(tmp_path, command):
    """The second is what the command argandrun does."""
    (tmp_path / "worker.py").write_text("import torch\nprint(torch.nn.__name__, torch.__file__)")
    run = subprocess.run([sys.executable, *command, "worker.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["torch.nn", sys.modules["argand"].__file__]


def test_launch_gives_local_rank(tmp_path):
    (tmp_path / "worker.py").write_text("import sys; print(*sys.argv[1:])")
    command = [sys.executable, "-m", "argand.distributed.launch", "--nproc-per-node", "2"]
    run = subprocess.run([*command, "worker.py", "x"], cwd=tmp_path, capture_output=True, text=True)
    assert sorted(run.stdout.splitlines()) == ["--local-rank=0 x", "--local-rank=1 x"] and "deprecated" in run.stderr


def test_workers_meet_at_the_store_and_strangers_do_not(launch):  # noqa: F811
    program = """
import argand.distributed as dist
def store():
    return dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), None, False)
store().set(f"from {rank}", str(rank))
print(*[store().get(f"from {other}").decode() for other in range(2)])
del os.environ["ARGAND_STORE_SECRET"]
try:
    store()
except dist.DistNetworkError as error:
    print(str(error).count("ARGAND_STORE_SECRET"))
"""
    run = launch("--nproc-per-node", 2, "worker.py", program=program).end()
    assert run.code == 0 and sorted(run.out.splitlines()) == ["0 1", "0 1", "1", "1"], run.out + run.err


BAD = [
    ([], "the following arguments are required: training_script"),
    (["--nproc-per-node", "z", "x"], "Unsupported nproc_per_node value: z"),
    (["--nproc-per-node", "0", "x"], "nproc_per_node: expected at least 1, got 0"),
    (["--nnodes", "1:2:3", "x"], 'nnodes=1:2:3 is not in "MIN:MAX" format'),
    (["--nnodes", "2:1", "x"], "min_nodes must be > 0 and <= max_nodes, got min_nodes=2, max_nodes=1"),
    (["--nnodes", "1:2", "x"], "--nnodes: expected one number with --rdzv-backend static, got 1:2"),
    (["--max-restarts", "-1", "x"], "max_restarts must be >= 0, got -1"),
    (["--max-restarts", "q", "x"], "argument --max-restarts/--max_restarts: invalid int value: 'q'"),
    (["--rdzv-backend", "etcd", "x"], "--rdzv-backend: expected static or c10d, got 'etcd'"),
    (["--rdzv-backend", "c10d", "--rdzv-endpoint", "a:b", "x"], "--rdzv-endpoint: expected HOST:PORT with a port from 0 to 65535, got 'a:b'"),
    (["--rdzv-conf", "x", "x"], "must be in format <key1>=<value1>,...,<keyN>=<valueN>, got 'x'"),
    (["--rdzv-conf", "x=1", "x"], "--rdzv-conf: x: no such setting; there are:"),
    (["--nnodes", "2", "--node-rank", "2", "x"], "--node-rank: expected 0 to 1 for 2 nodes, got 2"),
    (["--signals-to-handle", "SIGFOO", "x"], "expected names of signals that can be handled, as SIGTERM,SIGUSR1, got 'SIGFOO'"),
    (["--shutdown-timeout", "-1", "x"], "shutdown_timeout must be non-negative, got -1"),
    (["--monitor-interval", "0", "x"], "monitor_interval: expected a number greater than 0, got 0.0"),
    (["--start-method", "q", "x"], "argument --start-method/--start_method: invalid choice: 'q'"),
    (["--numa-binding", "node", "x"], "--numa-binding: workers are not bound to CPUs here; start them by numactl"),
    (["--event-log-handler", "console", "x"], "event_log_handler: expected 'null', got 'console': events are not recorded here"),
    (["--logs-specs", "q", "x"], "Could not find entrypoint under 'torchrun.logs_specs[q]' key"),
    (["--local-ranks-filter", "a", "x"], "--local_ranks_filter must be a comma-separated list of integers"),
    (["-t", "4", "x"], "4 does not match: <VALUE> or <LOCAL_RANK:VALUE,...>"),
    (["--duplicate-stdout-filters", ",a", "x"], "expected texts between commas, got ',a'"),
    (["-m", "--no-python", "x"], "Don't use both the '--no-python' flag and the '--module' flag at the same time."),
    ({"PET_STANDALONE": "yes"}, "PET_STANDALONE: expected 0 or 1, got 'yes'"),
    ({"PET_START_METHOD": "q"}, "PET_START_METHOD: expected one of spawn, fork, forkserver, got 'q'"),
    ({"PET_MAX_RESTARTS": "q"}, "argument --max-restarts/--max_restarts: invalid int value: 'q'"),
]


@pytest.mark.parametrize("given, message", BAD, ids=[str(given) for given, _ in BAD])
def test_what_it_cannot_be_asked(given, message, capfd, monkeypatch):
    from argand.distributed.run import main
    if isinstance(given, dict):
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        given = ["x"]
    try:
        code = main(given)
    except SystemExit as exit:
        code = exit.code
    assert message in capfd.readouterr().err and code in (1, 2)


# ---- failures


def test_restarts(launch):  # noqa: F811
    program = "print(rank, restarts, flush=True)\nif rank == 1 and restarts < 2: sys.exit(3)\ntime.sleep(30 if restarts < 2 else 0)"
    run = launch("--nproc-per-node", 2, "--max-restarts", 2, "-r", 3, "--log-dir", "logs", "worker.py", program=program).end()
    assert run.code == 0, run.err
    assert re.findall(r"restart (\d of 2)", run.err) == ["1 of 2", "2 of 2"]
    folder = os.path.join(os.path.dirname(run._out.name), "logs")
    (job,) = os.listdir(folder)
    for attempt in range(3):
        with open(os.path.join(folder, job, f"attempt_{attempt}", "1", "stdout.log")) as file:
            assert file.read() == f"1 {attempt}\n"
    assert run.out == ""
    run = launch("--nproc-per-node", 2, "--max-restarts", 1, "worker.py", program=program).end()
    assert run.code == 1 and "exitcode  : 3" in run.err and run.err.count("restart 1 of 1") == 1


def test_the_first_error_is_last_on_the_screen(launch):  # noqa: F811
    """With its traceback from stderr; workers that the launcher ended are no failures."""
    program = """
if rank == 0: time.sleep(60)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if rank == 2:
    time.sleep(0.5)
    raise ValueError("the first")
time.sleep(0.7)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = launch("--nproc-per-node", 3, "--shutdown-timeout", 5, "worker.py", program=program).end()
    assert run.code == 1
    report = run.err[run.err.rindex("worker.py FAILED"):]
    first = report[report.index("Root Cause (first observed failure):"):]
    assert re.search(r"rank      : 2 \(local_rank: 2\)\n  exitcode  : 1 \(pid: \d+\)\n", first), first
    assert first.rstrip("=\n").endswith("ValueError: the first") and 'worker.py", line' in first
    assert "rank      : 0" not in report and run.err.endswith("=\n")


def test_record_writes_the_error(launch):  # noqa: F811
    """Its file has the traceback, of which nothing need be on stderr, and a launcher's launcher gets it, too."""
    program = """
from argand.distributed.elastic.multiprocessing.errors import record
@record
def main():
    os.close(2)
    raise KeyError("lost")
main()
"""
    run = launch("worker.py", program=program, TORCHELASTIC_ERROR_FILE="outer.json").end()
    assert run.code == 1 and "KeyError: 'lost'" in run.err and "in main" in run.err
    (path,) = re.findall("error_file: (.*)", run.err)
    with open(path) as file, open(os.path.join(os.path.dirname(run._out.name), "outer.json")) as copy:
        inner, outer = json.load(file), json.load(copy)
    assert inner["message"]["message"] == "KeyError: 'lost'" and "KeyError" in inner["message"]["extraInfo"]["py_callstack"]
    assert float(inner["message"]["extraInfo"]["timestamp"]) > 1e9
    assert outer["message"].pop("errorCode") == 1 and inner == outer


def test_signals_have_names(launch):  # noqa: F811
    run = launch("worker.py", program="os.kill(os.getpid(), signal.SIGSEGV)").end()
    assert run.code == 1 and re.search(r"exitcode  : -11 \(pid: \d+\)  \(SIGSEGV\)", run.err)
    assert re.search(r"Signal 11 \(SIGSEGV\) received by PID \d+", run.err)
    run = launch("--no-python", "./not-there").end()
    assert run.code == 1 and "'./not-there' cannot be started: FileNotFoundError" in run.err


# ---- the end


WITH_CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "60"])
print('up', child.pid, flush=True)
"""


def test_workers_end_with_a_killed_agent(launch):  # noqa: F811
    run = launch("--nproc-per-node", 2, "worker.py", program=WITH_CHILD + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + STOPS)
    run.until(lambda r: len(pids_of(r.out)) == 4)
    kill(run)
    assert wait_until_gone(pids_of(run.out)) == []


def test_workers_end_with_a_killed_supervisor(launch):  # noqa: F811
    run = launch("--nproc-per-node", 2, "worker.py", program="print('supervisor', os.getppid())\n" + STOPS)
    run.until(lambda r: len(pids_of(r.out)) == 2)
    os.kill(int(re.search(r"supervisor (\d+)", run.out)[1]), signal.SIGKILL)
    assert run.end().code == 1 and "the process that started it was killed" in run.err
    assert wait_until_gone(pids_of(run.out)) == []


def test_sigterm_and_a_worker_that_ignores_it(launch):  # noqa: F811
    program = WITH_CHILD + """
def end(*_):
    print("saved", rank, flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end if rank == 0 else signal.SIG_IGN)
""" + STOPS
    run = launch("--nproc-per-node", 2, "--shutdown-timeout", 1, "worker.py", program=program)
    run.until(lambda r: len(pids_of(r.out)) == 4)
    start = time.monotonic()
    kill(run, signal.SIGTERM)
    assert run.end().code == 128 + signal.SIGTERM and 0.9 < time.monotonic() - start < 10
    assert "got SIGTERM: ending 2 workers" in run.err and "saved 0" in run.out
    assert wait_until_gone(pids_of(run.out), 0) == []  # at once: the launcher has waited for them


def test_an_agent_that_was_stopped_goes_on(launch):  # noqa: F811
    """Longer than a store may be silent: it is the agent that did not ask."""
    run = launch("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0", "--rdzv-conf", "keep_alive_interval=1,keep_alive_max_attempt=2",
                 "worker.py", program="print('up', flush=True)\ntime.sleep(6)\nprint('done', flush=True)")
    run.until(lambda run: "up" in run.out)
    kill(run, signal.SIGSTOP)
    time.sleep(4)
    kill(run, signal.SIGCONT)
    assert run.end().code == 0 and "done" in run.out, run.err


def test_ctrl_c(launch):  # noqa: F811
    run = launch("--nproc-per-node", 2, "worker.py", program="try:\n  " + STOPS + "\nexcept KeyboardInterrupt: print('bye')")
    run.until(lambda r: len(pids_of(r.out)) == 2)
    start = time.monotonic()
    kill(run, signal.SIGINT)
    assert run.end().code == 130 and time.monotonic() - start < SOON and run.out.count("bye") == 2 and "Traceback" not in run.err
    assert wait_until_gone(pids_of(run.out), 0) == []


def test_ctrl_c_again_kills(launch):  # noqa: F811
    run = launch("worker.py", program="signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + STOPS)
    run.until(lambda r: len(pids_of(r.out)) == 1)
    kill(run, signal.SIGINT)
    run.until(lambda r: "Ctrl-C again" in r.err)
    assert not is_gone(pids_of(run.out)[0])
    start = time.monotonic()
    kill(run, signal.SIGINT)
    assert run.end().code == 130 and time.monotonic() - start < SOON
    assert wait_until_gone(pids_of(run.out), 0) == []


def test_what_workers_leave_running_is_ended(launch):  # noqa: F811
    """Also what has a session of its own and no parent any more."""
    program = """
heard, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print('up', os.getpid(), flush=True)
        os.write(tell, b'.')
        time.sleep(60)
    os._exit(0)
os.wait(), os.read(heard, 1)
"""
    run = launch("worker.py", program=program).end()
    assert run.code == 0 and len(pids_of(run.out)) == 1 and wait_until_gone(pids_of(run.out), 0) == []


# ---- output


def test_lines_are_whole_and_have_prefixes(launch):  # noqa: F811
    program = """
for i in range(300):
    for piece in (f"{rank}:", "a" * 50, "b" * 50, "\\n"):
        os.write(1, piece.encode())
os.write(1, b"no end")
os.write(2, b"e")
"""
    run = launch("--nproc-per-node", 4, "-t", "1", "--log-dir", "logs", "worker.py", program=program).end()
    assert run.code == 0 and run.err == "e\n" * 4
    lines = run.out.splitlines()
    expected = [f"[default{rank}]:{rank}:{'a' * 50}{'b' * 50}" for rank in range(4) for _ in range(300)]
    assert sorted(lines) == sorted(expected + [f"[default{rank}]:no end" for rank in range(4)])
    for folder, _, files in os.walk(os.path.join(os.path.dirname(run._out.name), "logs")):
        if "stdout.log" in files:
            with open(os.path.join(folder, "stdout.log")) as file:
                assert len(file.read()) == 300 * 103 + 6


def test_which_output_is_shown(launch):  # noqa: F811
    run = launch("--nproc-per-node", 3, "--local-ranks-filter", "0,2", "-r", "2:1", "-t", "0:1", "--duplicate-stdout-filters", "apple",
                 "--log-dir", "logs", "worker.py", program="print('apple', rank)\nprint('pear', rank)").end()
    assert run.code == 0 and run.out == "[default0]:apple 0\n[default0]:pear 0\n"
    found = {}
    for folder, _, files in os.walk(os.path.join(os.path.dirname(run._out.name), "logs")):
        for name in files:
            with open(os.path.join(folder, name)) as file:
                found[os.path.relpath(os.path.join(folder, name), folder + "/..") if name == "stdout.log" else name] = file.read()
    assert found == {"0/stdout.log": "apple 0\npear 0\n", "2/stdout.log": "apple 2\npear 2\n", "filtered_stdout.log": "[default0]:apple 0\n"}


def test_a_terminal_stays_one(tmp_path):
    """Workers see a terminal where the launcher has one, and what one alone writes is not held back until its line ends."""
    import pty
    (tmp_path / "worker.py").write_text("import sys\nprint(sys.stdout.isatty(), sys.stderr.isatty())\nprint('name? ', end='')\n"
                                        "print('hello', input())")
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, "worker.py"], cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen, is_answered = b"", False
    while True:
        try:
            seen += os.read(ours, 1000)
        except OSError:
            break
        if seen.endswith(b"name? ") and not is_answered:
            os.write(ours, b"you\n")
            is_answered = True
    os.close(ours)
    assert process.wait() == 0 and b"True True\r\n" in seen and seen.endswith(b"hello you\r\n")


# ---- from a program


def returns(base):
    return base + int(os.environ["RANK"])


def fails():
    if os.environ["RANK"] == "1":
        raise LookupError("not found")
    time.sleep(60)


def test_functions():
    config = LaunchConfig(1, 1, 2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", max_restarts=0, start_method="fork")
    assert elastic_launch(config, returns)(40) == {0: 40, 1: 41}
    config = LaunchConfig(1, 1, 2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", max_restarts=0, start_method="fork")
    with pytest.raises(dist.elastic.multiprocessing.errors.ChildFailedError, match="LookupError: not found") as caught:
        elastic_launch(config, fails)()
    rank, failure = caught.value.get_first_failure()
    assert (rank, failure.local_rank, failure.exitcode, caught.value.name) == (1, 1, 1, "fails")


def test_processes_by_hand(tmp_path):
    """As torch.distributed.elastic.multiprocessing's own example."""
    mp = dist.elastic.multiprocessing
    logs = mp.DefaultLogsSpecs(log_dir=str(tmp_path), redirects=mp.Std.from_str("0:1,1:3"))
    context = mp.start_processes("echo", "echo", {0: ("a", 1), 1: ([2],)}, {0: {}, 1: {"X": "1"}}, logs)
    assert sorted(context.pids()) == [0, 1]
    result = context.wait(timeout=20)
    assert not result.is_failed()
    texts = []
    for rank in range(2):
        with open(result.stdouts[rank]) as file:
            texts.append(file.read())
    assert texts == ["a 1\n", "[2]\n"]
    with pytest.raises(RuntimeError, match="envs, local rank mapping mismatch, expected: {0, 1}, actual: {0}"):
        mp.start_processes("echo", "echo", {0: (), 1: ()}, {0: {}}, logs)
    context = mp.start_processes("sleep", "sleep", {0: ("60",)}, {0: {}}, mp.DefaultLogsSpecs())
    assert context.wait(timeout=0) is None
    start = time.monotonic()
    context.close()  # its SIGTERM may come before the process is `sleep`, and counts all the same
    assert time.monotonic() - start < 10
    assert wait_until_gone(context.pids().values(), 0) == []
