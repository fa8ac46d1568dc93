"""The stores of torch.distributed: PyTorch's methods, signatures, errors; waits that Ctrl-C ends; stores written in Python."""
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta

import pytest

import argand as torch
import argand.distributed as dist

MS = timedelta(milliseconds=1)


def tcp(**options):
    return dist.TCPStore("localhost", 0, is_master=True, **options)


KINDS = {"hash": lambda path: dist.HashStore(), "file": lambda path: dist.FileStore(path, 1), "tcp": lambda path: tcp(),
         "prefix": lambda path: dist.PrefixStore("p", tcp())}
PREFIX = {"tcp": "/", "prefix": "/p/"}  # of keys in messages


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def store(kind, tmp_path):
    return KINDS[kind](str(tmp_path / "store"))


def test_values(store):
    assert store.set("a", "text") is None and store.get("a") == b"text"
    for value in (b"\xff\x00a", bytearray(b"\xff\x00a")):
        store.set("a", value)
        assert store.get("a") == b"\xff\x00a"
    store.set(b"k", "")
    assert store.get("k") == b"" and store.check(["a", "k"]) and not store.check(["a", "b"]) and store.check([])
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError):
            store.set("a", wrong)
        with pytest.raises(TypeError):
            store.set(wrong, "a")
    with pytest.raises(TypeError, match="list of str, got str"):
        store.check("ab")
    store.set("ä\udcff", "x")
    assert "ä\udcff" in store.list_keys()


def test_numbers(store):
    assert store.add("n", 3) == 3 and store.add("n", -5) == -2 and store.get("n") == b"-2"
    store.set("t", "abc")
    with pytest.raises(ValueError, match="'/?(p/)?t' to be a decimal integer"):
        store.add("t", 1)
    with pytest.raises(TypeError):
        store.add("n", 1.5)
    assert store.get("t") == b"abc"


def test_compare_set(store):
    assert store.compare_set("c", "a", "b") == b"a" and not store.check(["c"])
    assert store.compare_set("c", "", "b") == b"b" and store.compare_set("c", "z", "q") == b"b"
    assert store.compare_set("c", b"b", b"\xff") == b"\xff" == store.get("c")


def test_keys(store, kind):
    extra = store.num_keys()
    assert extra == (1 if kind == "file" else 0) and store.list_keys() == []
    store.multi_set(["a", "b"], ["1", b"2"])
    assert store.multi_get(["b", "a"]) == [b"2", b"1"] and store.multi_get([]) == []
    assert store.num_keys() == extra + 2 and sorted(store.list_keys()) == ["a", "b"]
    assert store.delete_key("a") is True and store.delete_key("a") is False and store.list_keys() == ["b"]
    store.append("b", "3")
    store.append("c", b"4")
    assert store.multi_get(["b", "c"]) == [b"23", b"4"] and store.has_extended_api() is True
    with pytest.raises(ValueError, match="1 keys and 2 values"):
        store.multi_set(["a"], ["1", "2"])


def test_queues(store):
    store.set_timeout(30 * MS)
    assert store.queue_len("q") == 0
    with pytest.raises(dist.QueueEmptyError, match="^queue is empty$"):
        store.queue_pop("q", block=False)
    with pytest.raises(dist.DistStoreError, match="wait timeout after 30ms"):
        store.queue_pop("q")
    store.queue_push("q", "1")
    store.queue_push("q", b"2")
    assert store.queue_len("q") == 2 and store.check(["q"]) and store.queue_pop("q") == b"1" and store.queue_pop("q", False) == b"2"


def test_waits(store, kind):
    prefix = PREFIX.get(kind, "")
    assert store.timeout == timedelta(seconds=300)
    store.set_timeout(60 * MS)
    assert store.timeout == 60 * MS and store.clone().timeout == 60 * MS
    for call, message in ((lambda: store.get("x"), f"wait timeout after 60ms, keys: {prefix}x"),
                          (lambda: store.wait(["x", "y"]), f"wait timeout after 60ms, keys: {prefix}x, {prefix}y"),
                          (lambda: store.wait(["x"], 30 * MS), f"wait timeout after 30ms, keys: {prefix}x"),
                          (lambda: store.wait(["x"], timedelta(microseconds=1)), "wait timeout after 1ms"),
                          (lambda: store.wait(["x"], timedelta(seconds=-1)), "wait timeout")):
        with pytest.raises(dist.DistStoreError, match=message):
            call()
    with pytest.raises(TypeError, match="datetime.timedelta, got float"):
        store.set_timeout(5.0)
    store.set_timeout(timedelta.max)  # is no overflow
    store.set_timeout(timedelta(0))  # waits for ever
    other = store.clone()
    threading.Timer(.1, lambda: other.set("x", "1")).start()
    assert store.get("x") == b"1"  # without the interpreter's lock
    store.wait(["x"])


def test_barrier(store):
    store.barrier("one", 1)
    with pytest.raises(dist.DistStoreError, match="wait timeout after 20ms"):
        store.barrier("two", 2, 20 * MS)
    store.clone().barrier("two", 2)


def test_prefix_store():
    below = dist.HashStore()
    store = dist.PrefixStore("b", dist.PrefixStore("a", below))
    store.set("k", "1")
    assert below.list_keys() == ["a/b/k"] and store.list_keys() == ["k"] and store.underlying_store.list_keys() == ["b/k"]
    assert store.underlying_store.underlying_store is below and store._underlying_non_prefix_store is below
    with pytest.raises(TypeError):
        dist.PrefixStore("a", None)


def test_tcp_store():
    server = dist.TCPStore("localhost", 0, 1, True, timedelta(seconds=20))
    assert server.host == "localhost" and server.port > 0 and server.libuvBackend is False and server.num_keys() == 1
    client = dist.TCPStore(host_name="localhost", port=server.port, world_size=None, is_master=False, timeout=timedelta(seconds=20),
                           wait_for_workers=True, multi_tenant=False, master_listen_fd=None, use_libuv=True)
    client.set("a", "1")
    assert server.get("a") == b"1" and isinstance(client.clone(), dist.TCPStore) and f"port={server.port}" in repr(client)
    with pytest.raises(dist.DistNetworkError, match="EADDRINUSE, message: address already in use"):
        dist.TCPStore("localhost", server.port, is_master=True, wait_for_workers=False)
    with pytest.raises(dist.DistStoreError, match="Timed out after 1 seconds waiting for clients. 1/2 clients joined."):
        dist.TCPStore("localhost", 0, 2, True, 100 * MS)
    with pytest.raises(ValueError, match="TCPStore world size cannot be 0"):
        dist.TCPStore("localhost", 0, 0, True)
    with pytest.raises(dist.DistNetworkError, match=r"timed out after 50ms while trying to connect to \(localhost, 1\)"):
        dist.TCPStore("localhost", 1, timeout=50 * MS)
    for port in (-1, 70000):
        with pytest.raises(TypeError):
            dist.TCPStore("localhost", port)
    del server
    with pytest.raises(dist.DistNetworkError, match="Connection was likely closed"):
        client.get("a")


def test_errors():
    assert issubclass(dist.DistStoreError, dist.DistError) and issubclass(dist.QueueEmptyError, dist.DistStoreError)
    assert issubclass(dist.DistNetworkError, dist.DistError) and issubclass(dist.DistBackendError, dist.DistError)
    assert issubclass(dist.PeerLost, dist.DistBackendError) and issubclass(dist.DistError, RuntimeError)
    assert dist.DistQueueEmptyError is dist.QueueEmptyError
    assert dist.DistStoreError.__module__ == "argand.distributed" and importlib.import_module("argand._torch._C._distributed_c10d").Store is dist.Store


def test_file_store_leaves_no_file(tmp_path):
    path = str(tmp_path / "store")
    first, second = dist.FileStore(path, 2), dist.FileStore(file_name=path, world_size=2)
    assert first.path == path
    del first
    assert os.path.exists(path)
    del second
    assert not os.path.exists(path)


@pytest.mark.parametrize("wait", ["store.get('never')", "store.wait(['never'])", "store.queue_pop('never')"])
def test_ctrl_c_ends_a_wait(kind, wait, tmp_path):
    make = {"hash": "dist.HashStore()", "file": f"dist.FileStore({str(tmp_path / 'store')!r}, 1)",
            "tcp": "dist.TCPStore('localhost', 0, is_master=True)",
            "prefix": "dist.PrefixStore('p', dist.TCPStore('localhost', 0, is_master=True))"}[kind]
    program = textwrap.dedent(f"""
        import argand.distributed as dist
        store = {make}
        print("waits", flush=True)
        try:
            {wait}
        except KeyboardInterrupt:
            store.set("a", "1")
            print("interrupted", store.get("a"))
        """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waits\n"
        time.sleep(.1)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == "interrupted b'1'\n"


class Mine(dist.Store):
    def __init__(self):
        super().__init__()
        self.values, self.calls = {}, []

    def set(self, key, value):
        self.calls.append("set")
        self.values[key] = value

    def get(self, key):
        return self.values[key]

    def add(self, key, amount):
        raise KeyError("my reason")

    def check(self, keys):
        return all(key in self.values for key in keys)

    def wait(self, keys, timeout=None):
        self.calls.append(timeout)


def test_a_store_written_in_python():
    mine = Mine()
    store = dist.PrefixStore("p", mine)  # whose methods are C++, and call those of Python
    store.set("a", b"\xff")
    assert mine.values == {"p/a": b"\xff"} and mine.calls == ["set"] and store.get("a") == b"\xff"
    assert store.check(["a"]) is True and store.check(["a", "b"]) is False and store.underlying_store is mine
    store.wait(["a"], 5 * MS)
    assert mine.calls[-1] == 5 * MS
    store.append("a", "b")
    store.multi_set(["c"], ["d"])
    assert store.multi_get(["a", "c"]) == [b"\xffb", b"d"] and store.has_extended_api() is False
    with pytest.raises(KeyError, match="my reason"):
        store.add("a", 1)
    with pytest.raises(NotImplementedError, match="Store.num_keys: the class .*Mine does not define it"):
        store.num_keys()
    with pytest.raises(NotImplementedError, match="Store.set: the class Store does not define it"):
        dist.Store().set("a", "b")
    held = dist.PrefixStore("p", Mine())
    held.set("a", "1")
    assert held.get("a") == b"1"


def test_a_forked_child_has_a_connection_of_its_own():
    store = tcp()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.set("child", "1")
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0 and store.get("child") == b"1"
