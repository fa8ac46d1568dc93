"""How the processes of a world find each other: from an address to a store, a rank and a number of ranks."""
import os
from urllib.parse import parse_qsl, urlparse

from .._C._stores import _store_of_launch
from ._stores import FileStore, HashStore

__all__ = ["register_rendezvous_handler", "rendezvous"]

_handlers = {}


def _environment(name):
    if name not in os.environ:
        raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set")
    return os.environ[name]


def register_rendezvous_handler(scheme, handler):
    """handler(url, timeout=..., **) is a generator of (store, rank, world_size) for addresses that begin with scheme://."""
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def _options(url):
    return dict(parse_qsl(urlparse(url).query))


def _number(url, name, given, text):
    value = _options(url).get(name, given)
    if int(value) == -1:
        raise ValueError(f"Error initializing torch.distributed using {urlparse(url).scheme}:// rendezvous: {text} parameter missing")
    return int(value)


def _rank_and_size(url, rank, world_size):
    return _number(url, "rank", rank, "rank"), _number(url, "world_size", world_size, "world size")


def _env(url, rank, world_size, timeout, check):
    options = _options(url)
    rank = int(options.get("rank", rank if rank != -1 else _environment("RANK")))
    world_size = int(options.get("world_size", world_size if world_size != -1 else _environment("WORLD_SIZE")))
    host, port = _environment("MASTER_ADDR"), int(_environment("MASTER_PORT"))
    check(world_size)
    return (_store_of_launch(host, port, rank, world_size, timeout) if world_size > 1 else HashStore()), rank, world_size


def _tcp(url, rank, world_size, timeout, check):
    where = urlparse(url)
    if where.port is None:
        raise ValueError("Error initializing torch.distributed using tcp:// rendezvous: port number missing")
    rank, world_size = _rank_and_size(url, rank, world_size)
    check(world_size)
    return (_store_of_launch(where.hostname, where.port, rank, world_size, timeout) if world_size > 1 else HashStore()), rank, world_size


def _file(url, rank, world_size, timeout, check):
    path = urlparse(url).path
    if not path:
        raise ValueError("Error initializing torch.distributed using file:// rendezvous: path missing")
    rank, world_size = _rank_and_size(url, rank, world_size)
    check(world_size)
    if world_size == 1:
        return HashStore(), rank, world_size
    store = FileStore(path, world_size)
    store.set_timeout(timeout)
    return store, rank, world_size


def meet(url, rank, world_size, timeout, check=lambda world_size: None):
    """(store, rank, world_size) of an address; ValueError if a part of it is missing.  check: called before others are waited for."""
    scheme = urlparse(url).scheme
    if scheme in _handlers:
        options = {} if rank == -1 else {"rank": str(rank)}
        if world_size != -1:
            options["world_size"] = str(world_size)
        if options:
            url += ("&" if "?" in url else "?") + "&".join(f"{k}={v}" for k, v in options.items())
        # harmless(check): a handler of the program's does the waiting, and knows the size alone
        return next(_handlers[scheme](url, timeout=timeout))
    ways = {"env": _env, "tcp": _tcp, "file": _file}
    if scheme not in ways:
        raise RuntimeError(f"No rendezvous handler for {scheme}://")
    return ways[scheme](url, rank, world_size, timeout, check)


def rendezvous(url, rank=-1, world_size=-1, timeout=None):
    """A generator of (store, rank, world_size): env://, tcp://host:port, file:///path, or what was registered."""
    from .constants import default_pg_timeout
    yield meet(url, rank, world_size, timeout or default_pg_timeout)
