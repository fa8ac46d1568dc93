"""The backward graph: its nodes, and the tensors that it saves, as torch.autograd.graph."""
import abc
import contextlib
import threading
import weakref
from typing import NamedTuple

from .. import _C
from .._ignored import harmless
from .._hook_handles import RemovedByCall
from .grad_mode import enable_grad


class Node(abc.ABC):
    """A function of the backward graph: what grad_fn of tensors is an instance of."""

    @abc.abstractmethod
    def name(self):
        """The name of the node: "MulBackward0"."""

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


class _NodeMethods:
    """The methods of nodes that are written in Python: see _tensor_methods."""

    def register_hook(self, fn):
        """Calls fn(grad_inputs, grad_outputs) after the node has run in a backward pass."""
        handle = self._add_posthook(fn)
        return RemovedByCall(lambda: self._remove_hook(handle))

    def register_prehook(self, fn):
        """Calls fn(grad_outputs) before the node runs in a backward pass."""
        handle = self._add_prehook(fn)
        return RemovedByCall(lambda: self._remove_hook(handle))

    def __dir__(self):
        return [*object.__dir__(self), *self._saved_names()]

    _input_metadata = property(lambda self: [InputMetadata(*meta) for meta in self._input_metas()], doc=Node._input_metadata.__doc__)


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


class _Handle:
    """Stands in the graph for a tensor that an op keeps."""


class _SavedAndCopied:
    """What allow_mutation_on_saved_tensors knows: the tensors that ops keep, by their handles, and the copies of those written since."""

    def __init__(self):
        self.original, self.cloned = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()  # handle: tensor
        self.tid_to_weakhandle = weakref.WeakValueDictionary()  # a tensor at a version: its handle
        self.sid_to_tid = {}  # memory at a version: the tensors in it

    def clear(self):
        for known in (self.original, self.cloned, self.tid_to_weakhandle, self.sid_to_tid):
            known.clear()

    def pack(self, tensor):
        memory = _memory_of(tensor)
        name = (*memory, tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        handle = self.tid_to_weakhandle.get(name)
        if handle is None:
            self.tid_to_weakhandle[name] = handle = _Handle()
            self.original[handle] = tensor
            self.sid_to_tid.setdefault(memory, set()).add(name)
        return handle

    def unpack(self, handle):
        if handle not in self.original and handle not in self.cloned:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                                 "originally recorded.")
        copy = self.cloned.get(handle)
        return self.original[handle] if copy is None else copy

    def before_write(self, tensor):
        """Copies what ops keep of the memory of a tensor that is about to be written."""
        for name in self.sid_to_tid.pop(_memory_of(tensor), ()):
            handle = self.tid_to_weakhandle.get(name)
            if handle is not None and handle in self.original:
                self.cloned[handle] = self.original.pop(handle).clone()


def _memory_of(tensor):
    return _C._storage_id(tensor), tensor._version


_mutation = threading.local()  # .allowed: whether the thread is within allow_mutation_on_saved_tensors


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Within it, tensors that ops keep for their gradients may be written in place: what they were is copied before the first write.

    Backward must run within it, too, and it cannot be nested.
    """
    from ..utils._python_dispatch import TorchDispatchMode
    known = _SavedAndCopied()

    class CopyBeforeWrite(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            for i, argument in enumerate(func._schema.arguments):
                if argument.alias_info is None or not argument.alias_info.is_write:
                    continue
                written = args[i] if i < len(args) else kwargs.get(argument.name)
                for tensor in written if isinstance(written, (list, tuple)) else (written,):
                    if isinstance(tensor, _C.Tensor) and not tensor.is_inference():
                        known.before_write(tensor)
            return func(*args, **kwargs)

    if getattr(_mutation, "allowed", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    with saved_tensors_hooks(known.pack, known.unpack), CopyBeforeWrite():
        _mutation.allowed = True
        try:
            yield known
        finally:
            _mutation.allowed = False
            known.clear()


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
