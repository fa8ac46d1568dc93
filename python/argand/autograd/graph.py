"""The backward graph: its nodes, and the tensors that it saves, as torch.autograd.graph."""
import abc
import contextlib
import threading
from typing import NamedTuple

from .. import _C
from .._ignored import harmless
from .._hook_handles import RemovedByCall
from .grad_mode import enable_grad


class Node(abc.ABC):
    """A function of the backward graph: what grad_fn of tensors is an instance of."""

    @abc.abstractmethod
    def name(self):
        """Its name: "MulBackward0"."""

    @property
    @abc.abstractmethod
    def next_functions(self):
        """Where the gradients that it computes go: pairs of a node and the number of an input of it."""

    @abc.abstractmethod
    def metadata(self):
        """A dict that lives as long as the node."""

    @property
    @abc.abstractmethod
    def _input_metadata(self):
        """What is known of the gradients that it gets: `shape`, `dtype` and `device` of each."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Calls fn(grad_inputs, grad_outputs) after the node has run; what it returns replaces grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Calls fn(grad_outputs) before the node runs; what it returns replaces them."""

    @classmethod
    def __subclasshook__(cls, subclass):
        if cls is Node and (issubclass(subclass, _C.Node) or subclass is _C.FunctionCtx):
            return True
        return NotImplemented


class InputMetadata(NamedTuple):
    """The tensor that a gradient belongs to."""
    shape: _C.Size
    dtype: _C.dtype
    device: _C.device
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def _register_hook(self, fn):
    handle = self._add_posthook(fn)
    return RemovedByCall(lambda: self._remove_hook(handle))


def _register_prehook(self, fn):
    handle = self._add_prehook(fn)
    return RemovedByCall(lambda: self._remove_hook(handle))


def _dir(self):
    return [*object.__dir__(self), *self._saved_names()]


_C.Node.register_hook, _C.Node.register_prehook, _C.Node.__dir__ = _register_hook, _register_prehook, _dir
_C.Node._input_metadata = property(lambda self: [InputMetadata(*meta) for meta in self._input_metas()],
                                   doc=Node._input_metadata.__doc__)


class saved_tensors_hooks:
    """Within it, what ops keep for their gradients is given to `pack`, and `unpack` of what that returned is read instead.

    `pack` gets a tensor without history, which it must not write; `unpack` returns a tensor of the same values, as often as
    backward runs. Inner hooks replace outer ones.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)
        return self

    def __exit__(self, *_):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """What ops keep for their gradients waits in the CPU's memory, and is copied back when backward needs it."""

    @harmless(device_type="tensors of any device wait in the CPU's memory")
    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory or tensor.device.type == "cpu":
                return tensor.device, tensor.cpu()
            packed = _C.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
            return tensor.device, packed.copy_(tensor)

        super().__init__(pack, lambda packed: packed[1].to(packed[0], non_blocking=pin_memory))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Within it, saved_tensors_hooks raises a RuntimeError with this message."""
    before = _C._disable_saved_tensors_hooks(error_message)
    try:
        yield
    finally:
        _C._disable_saved_tensors_hooks(before)


class _Kept:
    """What allow_mutation_on_saved_tensors gives: the copies it made are the graph's own."""

    def clear(self):
        pass


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Within it, tensors that ops keep for their gradients may be written in place: copies are kept of all of them."""
    with saved_tensors_hooks(lambda tensor: tensor.clone(), lambda packed: packed):
        yield _Kept()


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: input `output_nr` of `node`."""
    node: _C.Node
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor):
    """The edge along which the gradient of `tensor` flows; of a leaf, to what adds to its .grad."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is not None:
        return GradientEdge(tensor.grad_fn, tensor.output_nr)
    with enable_grad():
        view = tensor.view_as(tensor)
    return GradientEdge(view.grad_fn.next_functions[0][0], 0, tensor)


def _get_grad_fn_or_grad_acc(tensor):
    """The node that takes the gradient of `tensor`, which may be an edge; of a leaf, what adds to its .grad."""
    return tensor.node if isinstance(tensor, GradientEdge) else get_gradient_edge(tensor).node


def increment_version(tensor):
    """Tells autograd that the memory of the tensor, or of each of an iterable of them, was written by other means."""
    for t in (tensor,) if isinstance(tensor, _C.Tensor) else tensor:
        if not t.is_inference():  # those have no version
            _C._bump_version(t)


class _HandleOfAll:
    def __init__(self, handles):
        self._handles = tuple(handles)

    def remove(self):
        for handle in self._handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls `fn` once in each backward: with the list of the gradients of all tensors (None where none is computed) when the last
    of them is there, or, with mode "any", with the first. What it returns is ignored. Returns a handle with remove().
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = list(tensors)
    # One entry per backward pass: passes may run concurrently or nested, and one that fails leaves its gradients behind.
    lock, passes = threading.Lock(), {}

    def hook_of(i):
        def hook(grad):
            number = _C._backward_pass()
            with lock:
                is_first = number not in passes
                grads, to_come = passes.pop(number, None) or ([None] * len(tensors), sum(map(_C._gradient_wanted, tensors)))
                if mode == "all":
                    grads[i] = grad
                if to_come > 1:
                    passes[number] = grads, to_come - 1
            if mode == "any" and is_first:
                fn(grad)
            elif mode == "all" and to_come == 1:
                fn(grads)
        return hook
    return _HandleOfAll(t.register_hook(hook_of(i)) for i, t in enumerate(tensors))
