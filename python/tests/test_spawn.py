"""torch.multiprocessing.spawn and start_processes.  Most children are forked, as that is quick; they run the same code."""
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings

import pytest

import argand.multiprocessing as mp


def raises(rank, bad):
    if rank == bad:
        raise ValueError(f"no {rank}" + "." * 200000)  # more than a pipe holds
    time.sleep(60)


def kills_itself(rank, number):
    os.kill(os.getpid(), number)


def exits(rank, code):
    os._exit(code)


def writes(rank, folder):
    with open(os.path.join(folder, str(rank)), "w") as file:
        file.write(str(mp.current_process().daemon))


def ignores_sigterm(rank, folder):
    if rank == 1:
        while not os.path.exists(os.path.join(folder, "ready")):
            time.sleep(0.01)
        raise RuntimeError("one is enough")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(os.path.join(folder, "ready"), "w").close()
    time.sleep(60)


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"  # whoever took it over has not looked yet


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_runs_in_all(tmp_path, method):
    assert mp.start_processes(writes, (str(tmp_path),), nprocs=2, start_method=method, daemon=method == "fork") is None
    assert [(tmp_path / name).read_text() for name in "01"] == [str(method == "fork")] * 2


def test_the_traceback_of_a_child(tmp_path):
    context = mp.start_processes(raises, (1,), nprocs=3, join=False, start_method="fork")
    assert type(context) is mp.ProcessContext and len(context.pids()) == 3
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)^\n\n-- Process 1 terminated with the following error:\n"
                       r"Traceback .*in raises\n.*ValueError: no 1") as caught:
        while not context.join(grace_period=0.1):
            pass
    error = caught.value
    assert (error.error_index, error.error_pid, error.msg) == (1, context.pids()[1], str(error))
    assert all(is_gone(pid) for pid in context.pids())
    assert not any(os.path.exists(path) for path in context.error_files)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.error_index == 1 and str(again) == str(error)


def test_exit_codes_and_signals():
    with pytest.raises(mp.ProcessExitedException, match="^process 0 terminated with exit code 7$") as caught:
        mp.start_processes(exits, (7,), start_method="fork")
    assert (caught.value.exit_code, caught.value.signal_name) == (7, None)
    with pytest.raises(mp.ProcessExitedException, match="^process 0 terminated with signal SIGUSR1$") as caught:
        mp.start_processes(kills_itself, (signal.SIGUSR1,), start_method="fork")
    assert (caught.value.exit_code, caught.value.signal_name) == (-10, "SIGUSR1")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.exit_code, again.signal_name, again.error_pid) == (-10, "SIGUSR1", caught.value.error_pid)
    with pytest.raises(mp.ProcessExitedException, match="with signal <Unknown signal 40>"):
        mp.start_processes(kills_itself, (40,), start_method="fork")
    with pytest.raises(mp.ProcessRaisedException, match="KeyboardInterrupt"):  # not of this program's own Ctrl-C
        mp.start_processes(kills_itself, (signal.SIGINT,), start_method="fork")


def test_a_child_that_ignores_sigterm_is_killed(tmp_path):
    context = mp.start_processes(ignores_sigterm, (str(tmp_path),), nprocs=2, join=False, start_method="fork")
    start = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException, match="one is enough"):
        while not context.join(grace_period=0.3):
            pass
    assert 0.5 < time.monotonic() - start < 10 and context.processes[0].exitcode == -signal.SIGKILL


def test_join_looks_and_waits():
    context = mp.start_processes(time.sleep, nprocs=2, join=False, start_method="fork")  # 0 and 1 seconds
    assert context.join(timeout=0.5) is False
    while not context.join():
        pass
    assert context.join() is True and [p.exitcode for p in context.processes] == [0, 0]


def test_warnings():
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(abs, nprocs=1, start_method="fork")
    with pytest.warns(UserWarning, match="SpawnContext is renamed"):
        mp.SpawnContext([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mp.ProcessContext([], []).join() is True


PARENT = """
import os, sys, time, signal
import argand.multiprocessing as mp

def child(rank, ignores):
    if ignores:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.write(1, b"up\\n")  # in one piece: others write there, too
    time.sleep(60)

context = None
if __name__ == "__main__":
    try:
        context = mp.start_processes(child, (sys.argv[1] == "ignores",), nprocs=2, join=sys.argv[2] == "join", start_method="fork")
        os.write(1, " ".join(map(str, context.pids())).encode() + b"\\n")
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture
def parent(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    started = []

    def start(*arguments):
        started.append(subprocess.Popen([sys.executable, str(tmp_path / "parent.py"), *arguments], stdout=subprocess.PIPE, text=True,
                                        start_new_session=True, env={**os.environ, "TMPDIR": str(tmp_path)}))
        return started[-1]
    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()
    assert os.listdir(tmp_path) == ["parent.py"]  # no file of an error is left


def wait_until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


@pytest.mark.parametrize("how", ["hears", "ignores"])
def test_children_end_with_a_killed_parent(parent, how):
    process = parent(how, "no join")
    lines = [process.stdout.readline() for _ in range(3)]
    pids = [int(pid) for line in lines if line != "up\n" for pid in line.split()]
    assert len(pids) == 2
    process.kill()
    assert wait_until(lambda: all(map(is_gone, pids)))


@pytest.mark.parametrize("how", ["hears", "ignores"])
def test_ctrl_c_at_the_parent_ends_all(parent, how):
    process = parent(how, "join")
    assert [process.stdout.readline() for _ in range(2)] == ["up\n"] * 2
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, _ = process.communicate(timeout=20)  # ends when no child has the pipe any more
    assert out == "interrupted\n" and process.returncode == 0 and time.monotonic() - start < 10
