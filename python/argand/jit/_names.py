"""Rarely used names of torch.jit, loaded at first use."""
import collections
import contextlib
import types
import typing

from .._ignored import harmless
from . import ScriptModule

Attribute = collections.namedtuple("Attribute", ["value", "type"])


class Error(RuntimeError):
    """What a compiled program raises; there is none."""


class ScriptWarning(Warning):
    """The category of warnings of script()."""


class TracerWarning(Warning):
    """The category of warnings of trace()."""

    @staticmethod
    def ignore_lib_warnings():
        """No such warning is given."""


class TracingCheckError(Exception):
    """What a failed check of a trace raises; there is none."""


class RecursiveScriptModule(ScriptModule):
    """The type of what script() makes of modules; there are none."""


class TracedModule(ScriptModule):
    """The type of what trace() makes of modules; there are none."""

TopLevelTracedModule = TracedModule


def strict_fusion():
    """A scope in which PyTorch would insist on fusing all calls."""
    return contextlib.nullcontext()

_NO_PROGRAM = "there are no compiled programs, whose speed it would change"


@harmless(name=_NO_PROGRAM)
def fuser(name):
    """A scope in which TorchScript would fuse by other means."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise RuntimeError(f"unrecognized fuser option (name: {name})")
    return contextlib.nullcontext()


@harmless(should_optimize=_NO_PROGRAM)
def optimized_execution(should_optimize):
    """A scope with or without TorchScript's optimizer, which is not there."""
    return contextlib.nullcontext()

_onednn = False


@harmless(enabled=_NO_PROGRAM)
def enable_onednn_fusion(enabled):
    """Kept for onednn_fusion_enabled()."""
    global _onednn
    _onednn = enabled


def onednn_fusion_enabled():
    """What enable_onednn_fusion() was told."""
    return _onednn

_fusion_strategy = [("STATIC", 2), ("DYNAMIC", 10)]


@harmless(strategy=_NO_PROGRAM)
def set_fusion_strategy(strategy):
    """Kept; the one before."""
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise ValueError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}")
    global _fusion_strategy
    before, _fusion_strategy = _fusion_strategy, list(strategy)
    return before


def _unwrap_optional(x):
    """x, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


def is_of(obj, kind):
    """isinstance() for types with parameters, as List[int]: what they hold is looked at, and an empty one is of all."""
    if isinstance(kind, tuple):
        return any(is_of(obj, one) for one in kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple, typing.Optional):
        name = getattr(kind, "__name__", None) or kind._name
        example = {"dict": "[int, int]", "tuple": "[int, int]"}.get(name.lower(), "[int]")
        raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {name}{example}")
    if origin in (typing.Union, types.UnionType):
        return any(is_of(obj, one) for one in parts)
    if origin is None:
        return isinstance(obj, kind)
    if not isinstance(obj, origin):
        return False
    if origin is list:
        return all(is_of(item, parts[0]) for item in obj)
    if origin is dict:
        return all(is_of(key, parts[0]) and is_of(value, parts[1]) for key, value in obj.items())
    if origin is tuple:
        return len(obj) == len(parts) and all(map(is_of, obj, parts))
    return True
