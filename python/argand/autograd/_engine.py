"""The autograd engine and its nodes, by names that PyTorch's programs know."""
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


for _class in (UndefinedGrad, DelayedError):
    Node.register(_class)
