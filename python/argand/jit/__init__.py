"""torch.jit.  Archives of TorchScript are loaded and run (argand/jit in C++).  Python code is not compiled: script() and trace() return
their argument, as PyTorch's do with PYTORCH_JIT=0, and functions that need a compiled program raise an error."""
import typing

from .._ignored import harmless
from .. import _surface
from ..compiler import _marks as _same
from . import annotations  # noqa: F401
from ._script_module import ScriptModule, freeze, load, optimize_for_inference, run_frozen_optimizations, save  # noqa: F401

Final = typing.Final
_SAME = "what is given back is what was given, so nothing is recorded or checked"


def is_scripting():
    """False: nothing is ever scripted."""
    return False


def is_tracing():
    """False: nothing is ever traced."""
    return False


@harmless(the_type="it is for TorchScript alone, as in PyTorch")
def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    """Whether obj is of the type, or one of the types; what a list, a dictionary, a tuple holds is looked at too."""
    from ._types import is_of
    return is_of(obj, target_type)


@harmless(optimize=_SAME, _frames_up=_SAME, _rcb=_SAME, example_inputs=_SAME)
def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, class or module itself."""
    from ..nn.parameter import is_lazy
    for name, t in [*getattr(obj, "_parameters", {}).items(), *getattr(obj, "_buffers", {}).items()]:
        if is_lazy(t):
            raise RuntimeError(f"'{type(obj).__name__}' has an uninitialized parameter {name}. Did you forget to run a forward pass?")
    return obj


@harmless(example_inputs=_SAME, example_kwarg_inputs=_SAME, optimize=_SAME, check_trace=_SAME, check_inputs=_SAME, check_tolerance=_SAME, strict=_SAME,
          _force_outplace=_SAME, _module_class=_SAME, _compilation_unit=_SAME, _store_inputs=_SAME)
def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
          _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None, _store_inputs=True):
    """The function or module itself."""
    return func


@harmless(inputs=_SAME, example_inputs_is_kwarg=_SAME, optimize=_SAME, check_trace=_SAME, check_inputs=_SAME, check_tolerance=_SAME, strict=_SAME,
          _force_outplace=_SAME, _module_class=_SAME, _compilation_unit=_SAME, _store_inputs=_SAME)
def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
                 _force_outplace=False, _module_class=None, _compilation_unit=None, example_inputs_is_kwarg=False, _store_inputs=True):
    """The module itself."""
    return mod


class ScriptFunction:
    """The type of compiled functions; there are none."""


def fork(func, *args, **kwargs):
    """Calls func, at once; a Future of what it returned."""
    from ..futures import Future
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future):
    """The value of a Future."""
    return future.wait()


ignore = unused = export = interface = script_if_tracing = _script_if_tracing = _overload = _overload_method = script_method = _same


__getattr__, __dir__ = _surface.of(__name__)
