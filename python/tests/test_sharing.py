"""Tensors that are sent to another process share their memory with it."""
import gc
import multiprocessing as std
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import argand as torch
import argand.multiprocessing as mp


def _write(queue, done):
    for i, tensor in enumerate(queue.get()):
        tensor.fill_(i + 4)
    done.set()


def _fill(tensor):
    tensor.fill_(4)
    return tensor + 1


def _give(queue, done):
    queue.put(torch.arange(3.0))
    done.wait(60)


def _descriptors():
    return sum(1 for name in os.listdir("/proc/self/fd") if "memfd:argand" in _link(name))


def _link(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        return ""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_is_put_is_shared_with_all_its_views(method):
    context = mp.get_context(method)
    x = torch.zeros(4, 3)
    queue, done = context.Queue(), context.Event()
    before = x[0]
    queue.put([x, x[:, 1]])
    worker = context.Process(target=_write, args=(queue, done))
    worker.start()
    assert done.wait(120)
    worker.join(60)
    assert x.tolist() == [[4, 5, 4]] * 4 and before.tolist() == [4, 5, 4]


@pytest.mark.parametrize("package", ["multiprocessing", "argand.multiprocessing"])
def test_a_process_forked_while_the_first_tensor_is_sent_reads_it(package):
    """What the sending thread imports must not stay locked in the child."""
    program = f"""
import argand, {package} as mp, sys
def read(queue, done):
    queue.get().fill_(4)
    done.set()
context = mp.get_context("fork")
queue, done, x = context.Queue(), context.Event(), argand.zeros(3)
queue.put(x)
process = context.Process(target=read, args=(queue, done), daemon=True)
process.start()
sys.exit(0 if done.wait(20) and x.sum() == 12 else "the child does not answer")
"""
    for _ in range(6):
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr


def test_arguments_of_a_pool_are_written_by_its_workers():
    with std.get_context("fork").Pool(2) as pool:
        tensors = [torch.zeros(2, 2) for _ in range(4)]
        results = pool.map(_fill, tensors, 1)
    assert all(t.eq(4).all() for t in tensors) and all(r.eq(5).all() for r in results)


def test_what_comes_back_is_the_same_storage():
    x = torch.randn(5, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TypedStorage
        sent = [x.storage(), x.untyped_storage(), x, x[2], x[:, 1]]
        queue = mp.SimpleQueue()
        queue.put(sent)
        typed, untyped, *tensors = queue.get()
        assert typed._cdata == untyped._cdata == x.untyped_storage()._cdata
    assert all(torch.equal(a, b) and a.untyped_storage()._cdata == x.untyped_storage()._cdata for a, b in zip(tensors, sent[2:]))
    assert [t.stride() for t in tensors] == [t.stride() for t in sent[2:]]


def test_descriptors_are_closed_with_the_memory():
    gc.collect()
    start = _descriptors()
    queue, done = mp.Queue(), mp.Event()
    worker = mp.Process(target=_give, args=(queue, done))
    worker.start()
    x = queue.get(timeout=60)
    done.set()
    worker.join(60)
    assert x.is_shared() and x.tolist() == [0, 1, 2]  # whoever sent it is gone
    y = torch.ones(3).share_memory_()
    assert _descriptors() == start + 2
    del x, y
    gc.collect()
    assert _descriptors() == start


def test_share_memory_moves_the_storage():
    x = torch.arange(6.0)
    view, storage = x[2:], x.untyped_storage()
    assert view.share_memory_() is view and x.is_shared() and storage.is_shared()
    x[3] = 9
    assert view.tolist() == [2, 9, 4, 5]
    y = torch.arange(4)
    assert y.untyped_storage().share_memory_().is_shared() and y.is_shared() and y.tolist() == [0, 1, 2, 3]
    y.resize_(100)  # to more shared memory
    assert y.is_shared() and y[:4].tolist() == [0, 1, 2, 3]
    lazy = torch.empty(5)
    assert lazy.share_memory_().fill_(2).sum() == 10


def test_where_an_array_shows_the_memory_the_tensor_alone_moves():
    array = np.arange(4.0)
    for x in (torch.from_numpy(array), torch.arange(4.0, dtype=torch.float64)):
        shown = x.numpy()
        assert x.share_memory_().is_shared() and x.tolist() == [0, 1, 2, 3]
        x.zero_()
        assert shown.tolist() == [0, 1, 2, 3]


def test_gradients_and_hooks_stay():
    queue = mp.SimpleQueue()
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        queue.put(x * 2)
    x.grad = torch.ones(3)
    handle = x.register_hook(lambda grad: grad)
    assert len(x._backward_hooks) == 1
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        queue.put(x)
    y = queue.get()
    assert y.requires_grad and y.is_leaf and y.grad is None and y._backward_hooks is None
    handle.remove()
    assert x._backward_hooks is None
    x.register_hook(torch.utils.hooks.unserializable_hook(lambda grad: grad))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        queue.put(torch.nn.Parameter(x.detach()))
        queue.put(x)
    assert type(queue.get()) is torch.nn.Parameter and queue.get().requires_grad


@pytest.mark.parametrize("tensor", [torch.empty(0, 3), torch.empty(2, 3, device="meta"), torch.empty(0, device="meta"),
                                    torch.ones(3, 2, dtype=torch.bfloat16).T, torch.tensor(True), torch.ones(2, dtype=torch.complex64)])
def test_kinds_of_tensors(tensor):
    queue = mp.SimpleQueue()
    queue.put(tensor)
    got = queue.get()
    assert (got.shape, got.dtype, got.device) == (tensor.shape, tensor.dtype, tensor.device)
    assert got.is_meta or torch.equal(got, tensor) and (not got.numel() or got.stride() == tensor.stride())


def _sum_when_told(queue, written, answers):
    tensor = queue.get()
    written.wait(60)
    answers.put(tensor.sum().item())


def test_what_is_written_after_the_memory_grew_is_seen():
    context = mp.get_context("fork")
    queue, written, answers = context.Queue(), context.Event(), context.Queue()
    x = torch.ones(2).share_memory_()
    x.resize_(100)
    queue.put(x)
    worker = context.Process(target=_sum_when_told, args=(queue, written, answers))
    worker.start()
    while not queue.empty():
        time.sleep(0.01)
    x.fill_(3)
    written.set()
    assert answers.get(timeout=60) == 300
    worker.join(60)


def test_names_of_threads():
    before = mp._get_thread_name()
    mp._set_thread_name("a name that is too long")
    assert mp._get_thread_name() == "a name that is "
    mp._set_thread_name(before)
