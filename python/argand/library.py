"""Ops of other packages, as torch.library: functions of Python with a name, and a gradient if one is registered.

custom_op("pack::op", mutates_args=()) makes torch.ops.pack.op of a function.  What traces would ask for (register_fake) is
accepted and never called; libraries in C++ made for PyTorch cannot be loaded (torch.ops.load_library says so).
"""
import functools
import inspect

from . import _C
from .autograd.function import Function

_ops = {}


class CustomOpDef:
    """A function with a name, which differentiates as register_autograd() says."""

    def __init__(self, name, function):
        self._name, self._function, self._backward, self._setup_context = name, function, None, None
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        if self._backward is None:
            return self._function(*args, **kwargs)
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        return self._differentiable().apply(*bound.args)

    def _differentiable(self):
        op = self

        class Differentiable(Function):
            @staticmethod
            def forward(ctx, *args):
                output = op._function(*args)
                if op._setup_context is not None:
                    op._setup_context(ctx, args, output)
                return output

            @staticmethod
            def backward(ctx, *grads):
                return op._backward(ctx, *grads)
        return Differentiable

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *grads) -> gradients of the arguments; setup_context(ctx, inputs, output) keeps what it needs."""
        self._backward, self._setup_context = backward, setup_context

    def register_fake(self, fn, /):
        """What a trace would run; nothing is traced."""
        return fn

    def register_kernel(self, device_types, fn=None, /):
        """Another function for tensors of some devices."""
        return _for_devices(self, device_types) if fn is None else _for_devices(self, device_types)(fn)


def _for_devices(op, device_types):
    types = (device_types,) if isinstance(device_types, str) else device_types

    def register(function):
        before = op._function

        @functools.wraps(before)
        def choose(*args, **kwargs):
            devices = {a.device.type for a in args if isinstance(a, _C.Tensor)}
            return (function if types is None or devices & set(types) else before)(*args, **kwargs)
        op._function = choose
        return function
    return register


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes torch.ops.pack.op of a function, for the name "pack::op"."""
    def define(function):
        _ops[name] = CustomOpDef(name, function)
        return _ops[name]
    return define if fn is None else define(fn)


def _named(op):
    name = op._name if isinstance(op, CustomOpDef) else op
    if name not in _ops:
        raise RuntimeError(f"operator {name} does not exist")
    return _ops[name]


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """See CustomOpDef.register_autograd."""
    _named(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """What a trace would run; nothing is traced."""
    return func if func is not None else lambda f: f


impl_abstract = register_fake


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """See CustomOpDef.register_kernel."""
    return _named(op).register_kernel(device_types, *(() if func is None else (func,)))


class _Namespace:
    """torch.ops.pack: the ops of a package."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        found = _ops.get(f"{self._name}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found


class _Ops:
    """torch.ops: what custom_op() defined, by package and name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)

    def load_library(self, path):
        """Libraries of PyTorch's ops are made for PyTorch's own C++ types."""
        raise OSError(f"torch.ops.load_library: {path} is made for PyTorch's C++ library and cannot be loaded by Argand")


ops = _Ops()
