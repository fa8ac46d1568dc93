"""Names of torch._C about the autograd engine and its nodes; importing this module adds them to argand._C."""
import sys
import types
import warnings

from .. import _C
from .._switches import checked_argument
from .function import Function, _DelayedError
from .graph import Node
from .grad_mode import _DecoratorContextManager


class _SavedTensorMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C._SavedTensor)


class SavedTensor(metaclass=_SavedTensorMeta):
    """A tensor that a node keeps: what _raw_saved_NAME of a node is an instance of."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden. It is what a node of the graph has of a tensor "
                           "that it keeps.")


class ImperativeEngine:
    """What runs backward, as programs know it."""

    def queue_callback(self, function):
        """Calls it once the backward that is under way, or the outermost of several, is over."""
        _C._after_backward(function)

    def is_checkpoint_valid(self):
        """Whether the backward that is under way computes the gradients of all leaves, as checkpoint() with use_reentrant=True needs."""
        return not _C._backward_takes_inputs()


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """Tensor, by its old name: Variable(data) is a tensor of the same memory, without history."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile is not None:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning, stacklevel=2)
        if data is not None and not isinstance(data, _C.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return (_C.empty(0) if data is None else data.detach()).requires_grad_(bool(requires_grad))


class set_multithreading_enabled(_DecoratorContextManager):
    """Whether backward may run the nodes of several GPUs in threads of their own: from now on; in a `with` statement, for its scope."""

    def __init__(self, mode):
        self.prev, self.mode = _C._is_multithreading_enabled(), checked_argument(mode, "set_multithreading_enabled", "enabled", 1)
        _C._set_multithreading_enabled(self.mode)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _C._set_multithreading_enabled(self.prev)

    def clone(self):
        """The same scope once more: what a decorated function enters in each call."""
        return type(self)(self.mode)


class _UndefinedGrad(Function):
    """What has its arguments as results, and no gradient."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return (None,) * len(grads)


class UndefinedGrad:
    """A call of it has its tensors as results, and no gradient flows back."""

    def __call__(self, *tensors):
        results = _UndefinedGrad.apply(*tensors)
        return results[0] if len(results) == 1 else results


class DelayedError:
    """A call of it has its tensors as results, and an error with a message as their gradient."""

    def __init__(self, message, num_inputs):
        self.message, self.num_inputs = message.decode() if isinstance(message, bytes) else message, num_inputs

    def __call__(self, *tensors):
        if len(tensors) != self.num_inputs:
            raise TypeError(f"DelayedError: expected {self.num_inputs} tensors, got {len(tensors)}")
        results = _DelayedError.apply(self.message, *tensors)
        return results[0] if len(results) == 1 else results


def _current_graph_task_id():
    """The number of the backward that runs on this thread, -1 outside of one."""
    return _C._backward_pass() or -1


def _saved_tensors_hooks_is_enabled():
    """Whether saved_tensors_hooks() can be used here."""
    message = _C._disable_saved_tensors_hooks(None)
    if message is not None:
        _C._disable_saved_tensors_hooks(message)
    return message is None


class _WeakTensorRef:
    """Whether a tensor is still there."""

    def __init__(self, tensor):
        import weakref
        self._of = weakref.ref(tensor)

    def expired(self):
        """Whether nobody in Python holds it any more."""
        return self._of() is None


def _module(name, **names):
    module = types.ModuleType(f"{_C.__name__}.{name}")
    vars(module).update(names)
    sys.modules[module.__name__] = module
    setattr(_C, name, module)
    return module


_module("_functions", AccumulateGrad=_C._node_class("AccumulateGrad"), UndefinedGrad=UndefinedGrad, DelayedError=DelayedError,
        CopySlices=_C._node_class("CopySlices"), Error=_DelayedError._backward_cls)
_module("_autograd", SavedTensor=SavedTensor, _get_current_graph_task_keep_graph=_C._backward_keeps_graph,
        _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled, _saved_tensors_hooks_disable=_C._disable_saved_tensors_hooks,
        _saved_tensors_hooks_enable=lambda: _C._disable_saved_tensors_hooks(None),
        _push_saved_tensors_default_hooks=_C._push_saved_tensors_hooks, _pop_saved_tensors_default_hooks=_C._pop_saved_tensors_hooks)
for _class in (UndefinedGrad, DelayedError):
    Node.register(_class)
_C._current_graph_task_id, _C._WeakTensorRef = _current_graph_task_id, _WeakTensorRef
_C._is_fwd_grad_enabled = lambda: _forward_ad()._is_fwd_grad_enabled()
_C._set_fwd_grad_enabled = lambda mode: _forward_ad()._set_enabled(mode) and None


def _forward_ad():
    from . import forward_ad
    return forward_ad
