"""A process forks while its threads are at work: the child finds no lock taken that only they would give back."""
import importlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import argand as torch
import pytest

KINDS = ("shared leaves", "shared graph", "transforms", "ignored arguments", "files", "losses")
SECONDS = 20  # of a child, of which the machine may have many
shared = torch.ones(32, 8, requires_grad=True)


def train():
    (torch.ones(4, 32) @ shared).tanh().sum().backward()


def backward_of_one_graph(loss):
    loss.backward(retain_graph=True, inputs=[shared])


def transform(lengths):
    for n in lengths:
        torch.fft.fft(torch.ones(n))
        torch.fft.rfft(torch.ones(2 * n))


def ignore(n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.gather(torch.ones(2 + n % 2, 2), 0, torch.zeros(1, 2, dtype=torch.int64), sparse_grad=True)


def save_and_load():
    file = io.BytesIO()
    torch.save({"a": torch.ones(50), "b": shared.detach()}, file)
    file.seek(0)
    torch.load(file)


def classify():
    x = torch.ones(8, 5, requires_grad=True)
    torch.nn.functional.cross_entropy(x, torch.zeros(8, dtype=torch.int64)).backward()


def work_of(kind):
    if kind == "shared graph":
        loss = (torch.ones(4, 32) @ shared).tanh().sum()
        return lambda n: backward_of_one_graph(loss)
    return {"shared leaves": lambda n: train(), "transforms": lambda n: transform(range(2 + n % 50, 6 + n % 50)), "ignored arguments": ignore,
            "files": lambda n: save_and_load(), "losses": lambda n: classify()}[kind]


def run_child(work):
    """The status of a child that does it and all the rest, None after the time it has."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            work(1)
            train()
            transform((7, 12))
            save_and_load()
            classify()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def stress(kind, forks, threads=2):
    work, stop, failed = work_of(kind), threading.Event(), []

    def loop():
        n = 0
        while not stop.is_set():
            n += 1
            try:
                work(n)
            except Exception as error:  # noqa: BLE001
                failed.append(error)
                return
    at_work = [threading.Thread(target=loop) for _ in range(threads)]
    for thread in at_work:
        thread.start()
    try:
        statuses = []
        for _ in range(forks):
            time.sleep(0.001)
            statuses.append(run_child(work))
    finally:
        stop.set()
        for thread in at_work:
            thread.join()
    if failed:
        raise failed[0]
    return [status for status in statuses if status != 0]


@pytest.mark.parametrize("kind", KINDS)
def test_children_of_busy_threads_end(kind):
    program = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_forks; print(test_forks.stress({kind!r}, 20))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout == "[]\n", done.stderr


def test_a_child_goes_through_a_node_whose_gradient_a_thread_was_computing():
    """A node's lock is held while its gradient runs: a child must not wait for that thread."""
    leaf, inside, forked = torch.ones(3, requires_grad=True), threading.Event(), threading.Event()
    node = (leaf * 2).exp()

    def hold(grads):
        inside.set()
        forked.wait(SECONDS)
        return grads

    class Held(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):  # under the node's own lock
            if threading.current_thread() is not threading.main_thread():
                hold(g)
            return g
    loss = Held.apply(node).sum()
    thread = threading.Thread(target=lambda: loss.backward(retain_graph=True))
    thread.start()
    assert inside.wait(SECONDS)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            leaf.grad = None
            loss.backward()
            os._exit(0 if leaf.grad is not None else 2)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    forked.set()
    thread.join()
    assert status == 0


def test_a_fork_waits_for_an_import_of_the_package(tmp_path, monkeypatch):
    """A function imports a module when it is first called, in a thread; the child calls it, too."""
    (tmp_path / "planted_slow.py").write_text("import time\ntime.sleep(0.3)\n")
    monkeypatch.setattr(torch, "__path__", [*torch.__path__, str(tmp_path)])
    importing = threading.Thread(target=lambda: importlib.import_module(torch.__name__ + ".planted_slow"))
    importing.start()
    while torch.__name__ + ".planted_slow" not in sys.modules:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            importlib.import_module(torch.__name__ + ".planted_slow")
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    importing.join()
    assert status == 0
