"""Ops with a gradient of their own, written in Python."""
import functools
import inspect
import warnings

from .. import _C
from .._ignored import harmless
from . import _vmap_levels, forward_ad
from .grad_mode import no_grad

FunctionCtx = _C.FunctionCtx

# Attributes that a context takes from its node.
_OF_NODE = ("next_functions", "metadata", "name", "register_hook", "register_prehook", "_sequence_nr", "_set_sequence_nr",
            "_raw_saved_tensors", "_input_metadata")


def _context_attribute(self, name):
    if name in _OF_NODE:
        node = self._node()
        if node is not None:
            return getattr(node, name)
    if name == "saved_for_forward":
        return None
    if name == "non_differentiable":
        return ()
    if name == "materialize_grads":
        return True
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _save_for_forward(self, *tensors):
    """Keeps tensors for jvp, which has them in saved_tensors."""
    for tensor in tensors:
        if not (tensor is None or isinstance(tensor, _C.Tensor)):
            raise TypeError(f"save_for_forward expects all arguments to be tensors or None, got {type(tensor).__name__}")
    self.saved_for_forward = tensors


def _saved_variables(self):
    warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
    return self.saved_tensors


@harmless(pairs="storages that tensors share are known")
def _mark_shared_storage(self, *pairs):
    warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked. Note that calls to `set_()` "
                  "are not tracked", FutureWarning, stacklevel=2)


def _set_materialize_grads(self, value, _set=FunctionCtx.set_materialize_grads):
    """Whether backward gets zeros for results without a gradient, and jvp for arguments without a tangent; True at first."""
    _set(self, value)
    self.materialize_grads = value


def _mark_non_differentiable(self, *tensors, _mark=FunctionCtx.mark_non_differentiable):
    """Says that these results have no derivatives."""
    _mark(self, *tensors)
    self.non_differentiable = tensors


FunctionCtx.mark_non_differentiable = _mark_non_differentiable
FunctionCtx.set_materialize_grads = _set_materialize_grads
FunctionCtx.__getattr__ = _context_attribute
FunctionCtx.save_for_forward = _save_for_forward
FunctionCtx.saved_variables = property(_saved_variables)
FunctionCtx.mark_shared_storage = _mark_shared_storage
FunctionCtx._materialize_non_diff_grads = property(None, FunctionCtx._set_materialize_non_diff_grads,
                                                   doc="Whether backward gets zeros for results that have no gradient.")


class BackwardCFunction(_C.Node):
    """The nodes of Functions: they have the attributes of their contexts."""
    __slots__ = ()

    def __getattr__(self, name):
        if not name.startswith(("__", "_raw_saved_")):
            context = self._context
            if context is not None and hasattr(context, name):
                return getattr(context, name)
            if context is not None and name == "saved_tensors":
                return context.saved_tensors  # for its error
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        setattr(self._context, name, value)


class FunctionMeta(type):
    """Gives each Function the class of its nodes."""

    def __init__(cls, name, bases, body):
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"__slots__": (), "_forward_cls": cls,
                                                                          "__module__": cls.__module__})
        super().__init__(name, bases, body)

    def __call__(cls, *args, **kwargs):
        warnings.warn(f"{cls} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
                      "class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
                      DeprecationWarning, stacklevel=2)
        return super().__call__(*args, **kwargs)


_INVALID = ("Attribute '{}' is invalid for this instance of _C._FunctionBase. Accessing this attribute directly on an instance of "
            "autograd.Function is a legacy access pattern that is no longer supported.")


class Function(metaclass=FunctionMeta):
    """The base of ops written in Python.

        class Square(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                x, = ctx.saved_tensors
                return 2 * x * grad

        y = Square.apply(x)

    `forward` may also be written without `ctx`, with a `setup_context(ctx, inputs, output)` beside it.  `jvp(ctx, *tangents)` gives
    the tangents of the results in forward mode.  `vmap(info, in_dims, *args)` gives what torch.vmap
    takes for a batch; without it `forward` is called for each slice.
    """

    generate_vmap_rule = False

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
                           "with static forward method: call apply() of the class.")

    def __getattr__(self, name):
        if name == "metadata":
            raise RuntimeError("You attempted to access the anomaly metadata of a custom autograd function but the underlying PyNode has "
                               "already been deallocated.")
        if name in _OF_NODE or name == "_register_hook_dict":
            if name in ("next_functions", "_raw_saved_tensors", "_input_metadata"):
                raise RuntimeError(_INVALID.format(name))

            def invalid(*args):
                raise RuntimeError(_INVALID.format(name))
            return invalid
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """A rule for vmap: (results, the dimension of the batch in each, or None) of arguments whose batch is along in_dims."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
                                  "generate_vmap_rule=True.")

    @classmethod
    def _splits_context(cls):
        # Each access to a class method makes another object, so the functions behind them are compared.
        return getattr(cls.setup_context, "__func__", cls.setup_context) is not Function.setup_context

    @classmethod
    def _backward_function(cls):
        if cls.vjp is not Function.vjp and cls.backward is not Function.backward:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
                               "of them.")
        return cls.backward if cls.vjp is Function.vjp else cls.vjp

    @classmethod
    def _bound(cls, args, kwargs, mapped):
        """The arguments of forward by their places, with its defaults."""
        if not kwargs and not cls._splits_context():
            return args
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        by_name = {name: value for name, value in bound.kwargs.items() if name in kwargs}
        if by_name:
            if mapped:
                _vmap_levels.rules.refuse_tensors(by_name)
            raise TypeError(f"{cls.__name__}.apply() got an unexpected keyword argument {next(iter(by_name))!r}: arguments of forward() have places")
        bound.apply_defaults()
        return bound.args

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs forward; its tensor results get the Function's backward as their history."""
        if kwargs or cls._splits_context():
            args = cls._bound(args, kwargs, _vmap_levels.active())
        levels = forward_ad._levels_of(args) if _C._tangents_travel() else ()
        if levels and not _vmap_levels.is_further_in(args, levels[-1].depth):
            return forward_ad._apply(cls, args, levels)
        if _vmap_levels.active():
            done, result = _vmap_levels.rules.apply(cls, args)
            return result if done else _C._apply_function(cls, *args)
        with _C._ForwardScope(enabled=False):
            return _C._apply_function(cls, *args)


class _DelayedError(Function):
    """What has its arguments as results, and an error as its gradient."""

    @staticmethod
    def forward(ctx, message, *tensors):
        ctx.message = message
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(ctx.message)


_DelayedError._backward_cls.__name__ = _DelayedError._backward_cls.__qualname__ = "Error"


def once_differentiable(function):
    """Marks a backward that cannot be differentiated: backward through its results is an error."""
    @functools.wraps(function)
    def backward(ctx, *grads):
        with no_grad():
            results = function(ctx, *grads)
        if not _C.is_grad_enabled() or not any(isinstance(g, _C.Tensor) and g.requires_grad for g in grads):
            return results
        many = isinstance(results, tuple)
        all_results = results if many else (results,)
        # A result that is no tensor has its place among the edges, too: that of a tensor without a gradient.
        tensors = [r.detach().requires_grad_() if isinstance(r, _C.Tensor) else _C.empty(0) for r in all_results]
        delayed = _DelayedError.apply("trying to differentiate twice a function that was marked with @once_differentiable", *tensors)
        out = tuple(d if isinstance(r, _C.Tensor) else r for d, r in zip(delayed, all_results))
        return out if many else out[0]
    return backward


class InplaceFunction(Function):
    """A Function that may write its argument: where older programs keep whether it does."""

    def __init__(self, inplace=False):
        self.inplace = inplace
