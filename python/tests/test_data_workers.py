"""DataLoader with worker processes: the same batches in the same order, errors that say where, and no process left over."""
import gc
import importlib.machinery
import multiprocessing
import os
import re
import random
import signal
import subprocess
import sys
import time
import types

import argand as torch
import numpy as np
import pytest
from argand.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info, worker

import pretended_gpu


def children():
    return [p for p in multiprocessing.active_children() if p.is_alive()]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    deadline = time.monotonic() + 10
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not children(), "worker processes were left over"


class Squares(Dataset):
    def __init__(self, n=23):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.full((3, 5), float(i * i)), "i": i, "name": str(i)}


def lists(loader):
    return [(b["x"].tolist(), b["i"].tolist(), b["name"]) for b in loader]


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"drop_last": True, "prefetch_factor": 1},
                                     {"shuffle": True, "prefetch_factor": 7}])
def test_order_does_not_depend_on_workers(workers, options):
    torch.manual_seed(3)
    expected = lists(DataLoader(Squares(), 4, **{k: v for k, v in options.items() if k != "prefetch_factor"}))
    torch.manual_seed(3)
    assert lists(DataLoader(Squares(), 4, num_workers=workers, **options)) == expected


def test_large_tensors_arrays_and_dtypes():
    class Large(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return (torch.full((300, 400), i, dtype=torch.bfloat16), np.full((1000, 3), i, np.int16), torch.empty(0, 2),
                    torch.ones(3, 4).t(), torch.tensor(True), "t" * 100000, torch.full((5,), i, dtype=torch.complex64))
    for i, (half, array, empty, turned, flag, text, z) in enumerate(
            DataLoader(Large(), batch_size=None, num_workers=2, collate_fn=lambda x: x)):
        assert half.dtype is torch.bfloat16 and half.float().sum().item() == 120000 * i
        assert isinstance(array, np.ndarray) and array.dtype == np.int16 and (array == i).all()
        assert empty.shape == (0, 2) and turned.shape == (4, 3) and turned.sum().item() == 12 and flag.item() is True
        assert len(text) == 100000 and z.dtype is torch.complex64 and z[4].item() == i


def test_batches_can_be_written_and_kept():
    kept = []
    for batch in DataLoader(Squares(8), 4, num_workers=2):
        batch["x"].add_(1)
        kept.append(batch["x"])
    gc.collect()
    assert [k[1, 0, 0].item() for k in kept] == [2, 26]


class Random(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return (torch.randint(0, 1000, (1,)).item(), random.randint(0, 1000), get_worker_info().seed % 1000,
                np.random.randint(0, 1000))


def test_generators_of_workers_are_those_of_pytorch():
    torch.manual_seed(5)
    assert list(DataLoader(Random(), batch_size=None, num_workers=2, collate_fn=lambda x: x)) == [
        (557, 996, 470, 612), (238, 752, 471, 834), (364, 680, 470, 106), (935, 768, 471, 96), (179, 101, 470, 632),
        (244, 431, 471, 400)]


def test_worker_info_and_init():
    class Info(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            info = get_worker_info()
            return info.id, info.num_workers, info.dataset is self, self.started
    def start(worker_id):
        get_worker_info().dataset.started = worker_id + 10
    assert get_worker_info() is None
    assert list(DataLoader(Info(), None, num_workers=2, worker_init_fn=start, collate_fn=tuple)) == [
        (0, 2, True, 10), (1, 2, True, 11)] * 2


# ---- streams


class Shared(IterableDataset):
    def __init__(self, n, together=True):
        self.n, self.together = n, together

    def __iter__(self):
        info = get_worker_info()
        step, start = (info.num_workers, info.id) if info and self.together else (1, 0)
        return iter(range(start, self.n, step))


def test_streams():
    assert [b.tolist() for b in DataLoader(Shared(10), 2, num_workers=2)] == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]
    assert [b.tolist() for b in DataLoader(Shared(3, False), 2, num_workers=2)] == [[0, 1], [0, 1], [2], [2]]

    class Uneven(IterableDataset):
        def __iter__(self):
            return iter(range(100 if get_worker_info().id else 3))
    for _ in range(2):  # who makes which batch does not depend on time
        got = [b.tolist() for b in DataLoader(Uneven(), 1, num_workers=2)]
        assert sorted(x for b in got for x in b) == sorted([0, 1, 2] + list(range(100)))
        assert [b for b in got if b[0] > 2] == [[i] for i in range(3, 100)]


def test_out_of_order():
    class Slow(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            if i == 0:
                time.sleep(0.5)
            return i
    got = list(DataLoader(Slow(), None, num_workers=2, in_order=False))
    assert sorted(got) == list(range(8)) and got[0] != 0
    assert list(DataLoader(Slow(), None, num_workers=2)) == list(range(8))


def test_persistent_workers():
    class Pids(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return i, os.getpid()
    loader = DataLoader(Pids(), None, num_workers=2, persistent_workers=True, collate_fn=tuple)
    first = list(loader)
    next(iter(loader))  # a pass that is given up
    again = list(loader)
    assert first == again and [i for i, _ in again] == list(range(6)) and len({p for _, p in again}) == 2
    assert len(children()) == 2
    stream = DataLoader(Shared(5), None, num_workers=2, persistent_workers=True)
    assert list(stream) == list(stream) == [0, 1, 2, 3, 4]


# ---- what goes wrong


class Faulty(Dataset):
    def __init__(self, what):
        self.what = what

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            self.what()
        return i


def test_errors_say_where():
    def fail():
        raise KeyError("boom")
    loader = DataLoader(Faulty(fail), 2, num_workers=2)
    with pytest.raises(KeyError) as caught:
        list(loader)
    text = str(caught.value)
    assert "Caught KeyError in DataLoader worker process 0, at index 5." in text
    assert "Original Traceback (most recent call last):" in text and "in fail" in text and "KeyError: 'boom'" in text
    assert len(list(DataLoader(Faulty(int), 2, num_workers=2))) == 4


def test_errors_that_cannot_be_made_again():
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    def fail():
        raise Odd(1, 2)
    with pytest.raises(RuntimeError, match="Caught Odd in DataLoader worker process"):
        list(DataLoader(Faulty(fail), 2, num_workers=2))
    with pytest.raises(Exception, match="which cannot send this batch"):
        list(DataLoader(Faulty(int), 2, num_workers=1, collate_fn=lambda batch: lambda: 1))
    with pytest.raises(ZeroDivisionError, match="in DataLoader worker process"):
        list(DataLoader(Faulty(int), 2, num_workers=1, worker_init_fn=lambda i: 1 / 0))


class Two(Exception):
    def __init__(self, a, b):
        super().__init__(f"needs both {a} and {b}")


class KeywordOnly(Exception):
    def __init__(self, *, error):
        self.error = error

    def __str__(self):
        return f"keyword says {self.error}"


class Picky(Exception):
    def __init__(self, **kw):
        super().__init__("picky about %(error)s" % kw)


class Messenger(Exception):
    message = "of the class"

    def __init__(self, message):
        super().__init__(message)
        self.message = message


class Returns(Exception):
    def __new__(cls, *arguments):
        return super().__new__(cls) if arguments == (1,) else 7


@pytest.mark.parametrize("error, arrives", [
    (lambda: Two(1, "zwei"), RuntimeError), (lambda: KeywordOnly(error="ouch"), RuntimeError), (lambda: Picky(error="tea"), RuntimeError),
    (lambda: subprocess.CalledProcessError(7, ["decode", "clip.wav"]), RuntimeError), (lambda: Messenger("said"), Messenger),
    (lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), RuntimeError), (lambda: KeyError("missing\nkey"), KeyError),
    (lambda: Returns(1), RuntimeError), (lambda: MemoryError("no room"), MemoryError)])
def test_any_error_arrives_and_its_workers_end(error, arrives):
    """No cycle keeps the iterator, and with it the workers, until garbage is collected: processes that wait for them would hang."""
    def fail():
        raise error()
    data = Faulty(fail)
    loader = DataLoader(data, 2, num_workers=2)
    gc.disable()
    try:
        with pytest.raises(arrives) as caught:
            list(loader)
        text = str(caught.value)
        assert type(error()).__name__ in text and "in DataLoader worker process 0" in text and "\\n  File" not in text
        del caught
        deadline = time.monotonic() + 10
        while multiprocessing.active_children() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not multiprocessing.active_children()
    finally:
        gc.enable()
    data.what = int
    assert sum(b.sum().item() for b in loader) == 28


class Unreadable:
    def __reduce__(self):
        return int, ("no number",)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_batch_that_cannot_be_unpickled_is_an_error_once(persistent):
    class Data(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return Unreadable() if i == 2 else i
    loader = DataLoader(Data(), None, num_workers=2, persistent_workers=persistent)
    for _ in range(2):
        iterator, got = iter(loader), []
        for _ in range(6):
            try:
                got.append(next(iterator))
            except ValueError as error:
                assert "no number" in str(error)
                got.append("error")
        assert got == [0, 1, "error", 3, 4, 5]
        with pytest.raises(StopIteration):
            next(iterator)


@pytest.mark.parametrize("workers", [0, 2])
def test_stop_iteration_of_a_data_set_is_as_in_pytorch(workers):
    def stop():
        raise StopIteration
    assert [b.tolist() for b in DataLoader(Faulty(stop), 2, num_workers=workers)] == [[0, 1], [2, 3]]

    class Stream(IterableDataset):
        def __iter__(self):
            yield 1
            raise StopIteration
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        list(DataLoader(Stream(), 2, num_workers=workers))


def test_options_that_do_nothing_say_so():
    with pytest.warns(UserWarning, match="ignore pin_memory_device='cuda'"):
        DataLoader(Squares(4), pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning, match="will create 1000 worker processes"):
        DataLoader(Squares(4), num_workers=1000)
    with pytest.raises(AssertionError, match="timeout"):
        iter(DataLoader(Squares(4), timeout=3))


def test_loading_goes_on_after_an_error():
    def fail():
        raise ValueError("once")
    loader, got = iter(DataLoader(Faulty(fail), 1, num_workers=2)), []
    for _ in range(8):
        try:
            got.append(next(loader).item())
        except ValueError:
            got.append("error")
    assert got == [0, 1, 2, 3, 4, "error", 6, 7]
    with pytest.raises(StopIteration):
        next(loader)


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)], ids=["killed", "exits"])
def test_a_dead_worker_is_an_error(end):
    started = time.monotonic()
    batches = iter(DataLoader(Faulty(end), 1, num_workers=2))
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as first:
        list(batches)
    assert ("is killed by signal: Killed. " in str(first.value)) != ("exited with exit code 3. " in str(first.value))
    with pytest.raises(RuntimeError, match=re.escape(str(first.value))):  # and not a hang, nor the end of the data
        next(batches)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_end_when_the_iterator_is_forgotten(persistent):
    """Also where they persist: nothing refers to the iterator but its loader, so no collection of cycles is needed."""
    batches = iter(DataLoader(range(100), num_workers=2, persistent_workers=persistent))
    assert next(batches) == 0
    workers = batches._workers
    del batches
    assert [w.is_alive() for w in workers] == [False, False]


def test_workers_can_be_asked_about_after_the_last_batch():
    batches = iter(DataLoader(range(4), num_workers=2))
    assert len(list(batches)) == 4
    assert [w.exitcode for w in batches._workers] == [0, 0]


def test_timeout():
    with pytest.raises(RuntimeError, match="DataLoader timed out after 1 seconds"):
        list(DataLoader(Faulty(lambda: time.sleep(30)), 1, num_workers=2, timeout=1))


def test_consumer_stops_early():
    for _ in DataLoader(Squares(1000), 1, num_workers=2):
        break
    iterator = iter(DataLoader(Squares(1000), 1, num_workers=2))
    next(iterator)
    del iterator


def test_work_of_the_library_in_a_fork():
    a = torch.randn(400, 400)
    expected = (a @ a).exp().sum().item()  # the parent's threads have run

    class Work(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return (a @ a).exp().sum().item(), torch.get_num_threads()
    for value, threads in DataLoader(Work(), None, num_workers=2, collate_fn=tuple):
        assert value == expected and threads == 1


def test_spawned_workers():
    loader = DataLoader(torch.utils.data.TensorDataset(torch.arange(6)), 2, num_workers=1, multiprocessing_context="spawn")
    assert [b[0].tolist() for b in loader] == [[0, 1], [2, 3], [4, 5]]


def test_workers_are_told_like_processes():
    """As in PyTorch's list of them."""
    iterator = iter(DataLoader(range(8), num_workers=2))
    workers = iterator._workers
    next(iterator)
    assert all(w.is_alive() and w.pid for w in workers)
    del iterator
    for w in workers:
        w.join(30)
        assert not w.is_alive() and w.exitcode == 0


def test_a_fork_while_numpy_is_imported(monkeypatch):
    """By another thread: the worker has a part of it."""
    part = types.ModuleType("numpy")
    part.__spec__ = importlib.machinery.ModuleSpec("numpy", None)
    part.__spec__._initializing = True
    monkeypatch.setitem(sys.modules, "numpy", part)
    worker.seed_everything(3, 0, 3)
    assert torch.initial_seed() == 3
    assert torch.utils.data.default_collate([torch.ones(2), torch.ones(2)]).shape == (2, 2)
    assert torch.utils.data.default_convert([1, "a"]) == [1, "a"]


def test_a_fork_while_work_waits_on_a_device(tmp_path):
    """What waits for the CPU is computed in the child, too; what waits for a device is an error where somebody looks at it, and nowhere
    else."""
    out = pretended_gpu.run(tmp_path, """
import os, threading
a, b = torch.ones(1 << 16).mul(2), torch.ones(1000, device="cuda").mul(2)
def forks():
    child = os.fork()
    if child == 0:
        assert a.add(1).sum().item() == 3 << 16
        try: b.sum().item()
        except RuntimeError as error: os._exit("made by fork()" not in str(error))
        os._exit(2)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), a.sum().item())
thread = threading.Thread(target=forks)
thread.start()
thread.join()
forks()
""")
    assert out.stdout == "0 131072.0\n0 131072.0\n", out.stdout + out.stderr


def test_workers_need_something_to_do_ahead():
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(torch.utils.data.DataLoader([1, 2], num_workers=1, prefetch_factor=0))
