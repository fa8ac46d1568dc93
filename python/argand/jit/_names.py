"""Rarely used names of torch.jit, loaded at first use."""
import collections
import contextlib

from .._C import JITException as Error  # noqa: F401
from .._ignored import harmless
from ._script_module import RecursiveScriptModule, ScriptModule  # noqa: F401

Attribute = collections.namedtuple("Attribute", ["value", "type"])


class ScriptWarning(Warning):
    """The category of warnings of script()."""


class TracerWarning(Warning):
    """The category of warnings of trace()."""

    @staticmethod
    def ignore_lib_warnings():
        """Does nothing: no such warning is given."""


class TracingCheckError(Exception):
    """What a failed check of a trace raises; there is none."""


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
