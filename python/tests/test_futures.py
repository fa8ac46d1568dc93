"""torch.futures: values that come later, in the same thread and from another."""
import threading

import argand as torch
import pytest
from argand.futures import Future, collect_all, wait_all


def test_a_value_comes_once():
    future = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="no value yet"):
        future.value()
    future.set_result(3)
    assert future.done() and future.wait() == future.value() == 3
    with pytest.raises(RuntimeError, match="can only be marked completed once"):
        future.set_result(4)
    with pytest.raises(RuntimeError, match="can only be marked completed once"):
        future.set_exception(ValueError())
    assert future.value() == 3


def test_another_thread_sets_it():
    future, waiting = Future(), threading.Event()
    got = []
    threads = [threading.Thread(target=lambda: (waiting.set(), got.append(future.wait()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    waiting.wait()
    assert not got
    future.set_result("x")
    for thread in threads:
        thread.join(10)
    assert got == ["x"] * 3


def test_callbacks():
    future, seen = Future(), []
    following = future.then(lambda f: f.wait() + 1).then(lambda f: 10 * f.value())
    future.add_done_callback(lambda f: seen.append(f.value()))
    assert not following.done() and not seen
    future.set_result(1)
    assert following.wait() == 20 and seen == [1]
    future.add_done_callback(lambda f: seen.append("now"))
    assert seen == [1, "now"] and future.then(lambda f: f is future).wait()


def test_exceptions():
    future = Future()
    following = future.then(lambda f: f.wait())
    future.set_exception(ValueError("foo"))
    assert future.done()
    for call in (future.wait, future.value):
        with pytest.raises(ValueError, match="foo"):
            call()
    with pytest.raises(RuntimeError, match="running the callback: ValueError: foo"):
        following.wait()
    with pytest.raises(AssertionError, match="not an Exception"):
        Future().set_exception(3)
    with pytest.warns(UserWarning, match="running the callback: ZeroDivisionError"):
        future.add_done_callback(lambda f: 1 / 0)


def test_several():
    a, b = Future(), Future()
    both = collect_all([a, b])
    b.set_result(2)
    assert not both.done()
    a.set_result(1)
    assert [f.wait() for f in both.wait()] == [1, 2] == wait_all([a, b])
    assert collect_all([]).wait() == [] == wait_all([])
    bad, late = Future(), Future()
    both = collect_all([bad, late])
    bad.set_exception(KeyError("k"))
    assert not both.done()
    late.set_result(0)
    with pytest.raises(KeyError, match="k"):
        both.wait()


def test_forks():
    future = torch.jit.fork(lambda v, *, by: v * by, torch.ones(2), by=3)
    assert isinstance(future, Future) and isinstance(future, torch.jit.Future)
    assert torch.jit.wait(future).tolist() == [3, 3]
