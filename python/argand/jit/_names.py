"""What few programs ask of torch.jit; loaded for those."""
import collections
import contextlib

from .._refused import refused, refused_class
from ..futures import Future  # noqa: F401
from . import ScriptModule

__all__ = ["Future", "Attribute", "Error", "ScriptWarning", "TracerWarning", "TracingCheckError", "RecursiveScriptModule", "TracedModule",
           "TopLevelTracedModule", "strict_fusion", "fuser", "optimized_execution", "enable_onednn_fusion", "onednn_fusion_enabled",
           "set_fusion_strategy", "_unwrap_optional", "load", "save", "freeze", "optimize_for_inference", "export_opnames",
           "last_executed_optimized_graph", "run_frozen_optimizations", "jit_module_from_flatbuffer", "save_jit_module_to_flatbuffer",
           "CompilationUnit"]

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


def fuser(name):
    """A scope in which TorchScript would fuse by other means."""
    return contextlib.nullcontext()


def optimized_execution(should_optimize):
    """A scope with or without TorchScript's optimizer, which is not there."""
    return contextlib.nullcontext()


def enable_onednn_fusion(enabled):
    """Accepted: there are no compiled programs to fuse."""


def onednn_fusion_enabled():
    """False."""
    return False


_fusion_strategy = []


def set_fusion_strategy(strategy):
    """Kept, and read by nobody; the one before."""
    global _fusion_strategy
    before, _fusion_strategy = _fusion_strategy, list(strategy)
    return before


def _unwrap_optional(x):
    """x, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


_NONE = "there is no TorchScript; eager calls are fused and replayed as they are"
load, save, freeze, optimize_for_inference, export_opnames, last_executed_optimized_graph, run_frozen_optimizations, \
    jit_module_from_flatbuffer, save_jit_module_to_flatbuffer = (refused("torch.jit." + name, _NONE) for name in (
        "load", "save", "freeze", "optimize_for_inference", "export_opnames", "last_executed_optimized_graph",
        "run_frozen_optimizations", "jit_module_from_flatbuffer", "save_jit_module_to_flatbuffer"))
CompilationUnit = refused_class("torch.jit.CompilationUnit", _NONE)
