"""Ops that libraries in C++ define with TORCH_LIBRARY: how they are loaded, found and called (docs/design/0025-extensions.md)."""
import contextlib
import ctypes
import functools
import inspect
import keyword
import mmap
import os

from . import _C
from ._overloads import OpOverloadPacket
from ._schemas import parse

_FOREIGN = (b"libtorch.so", b"libtorch_cpu.so", b"libtorch_python.so", b"libc10.so")


@contextlib.contextmanager
def loading():
    """A scope in which a library is loaded: raises what went wrong in its blocks of TORCH_LIBRARY."""
    _C._begin_loading()
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the first error is the reason
            _C._end_loading()
        raise
    _C._end_loading()


def _is_of_pytorch(path):
    """Whether a library asks for PyTorch's own libraries, whose C++ types are not Argand's."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(b"\0" + name + b"\0") >= 0 for name in _FOREIGN)
    except (OSError, ValueError):  # there is no file, or it is empty: dlopen says so
        return False


def load_library(path):
    """Loads a shared library, whose blocks of TORCH_LIBRARY define ops.  OSError if it cannot be loaded."""
    path = os.path.realpath(os.fspath(path))
    if _is_of_pytorch(path):
        raise OSError(f"torch.ops.load_library: {path} was built for PyTorch's C++ library; build it for Argand "
                      "(torch.utils.cpp_extension)")
    with loading():
        ctypes.CDLL(path)
    return path


def names(namespace):
    """The names of a namespace's ops."""
    return _C._library_names(namespace)


def _signature(schema):
    """The parameters of a schema, for who binds arguments; None if one has a name that Python's parameters cannot have."""
    if any(keyword.iskeyword(a.name) for a in schema.arguments):
        return None
    return inspect.Signature([inspect.Parameter(
        a.name, inspect.Parameter.KEYWORD_ONLY if a.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=a.default_value if a.has_default else inspect.Parameter.empty) for a in schema.arguments])


def function_of(name, overload=""):
    """What calls the overload of an op, with its schema as `schema`; None if no library defines it."""
    text = _C._library_schema(name, overload)
    if text is None:
        return None

    def call(*args, **kwargs):
        return _C._library_call(name, overload, args, kwargs)
    call.schema, call.__name__, call.__doc__ = parse(text), name.rpartition("::")[2], text
    signature = _signature(call.schema)
    if signature is not None:
        call.__signature__ = signature
    return call


def written(schema):
    """{place: name} of the arguments that calls write."""
    return {i: a.name for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write}


def overloads(name):
    """The names of an op's overloads, in the order of their definitions; "" is the one without a name."""
    return _C._library_overloads(name)


def packet(namespace, name, find):
    """An op that has several overloads, or one with a name.  find(qualname) is the overload "pack::op.out"."""
    return _packet(namespace, name, tuple(overloads(f"{namespace}::{name}")), find)


@functools.cache
def _packet(namespace, name, known, find):
    found = {overload or "default": find(f"{namespace}::{name}" + (f".{overload}" if overload else "")) for overload in known}

    def call(*args, **kwargs):
        refusals = []
        for overload, op in zip(known, found.values()):
            refusal = _C._library_refusal(f"{namespace}::{name}", overload, args, kwargs)
            if refusal is None:
                return op(*args, **kwargs)
            refusals.append(refusal)
        raise RuntimeError(f"No overload of {namespace}::{name} takes these arguments:\n" + "\n".join(refusals))
    made = OpOverloadPacket(namespace, name, call, {overload: op._schema for overload, op in found.items()})
    made._made.update(found)
    return made
