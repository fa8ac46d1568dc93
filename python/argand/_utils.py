"""Names of torch._utils that packages import."""
import sys
from importlib import import_module

from . import _C
from ._copies import _rebuild_meta_tensor_no_storage, _rebuild_wrapper_subclass  # noqa: F401
from ._dispatch import StateOff
from .nn.parameter import Parameter
from ._typed_storage import TypedStorage
from ._untyped_storage import tensor_over
from ._failures import Failure


def _flatten_dense_tensors(tensors):
    """The elements of tensors of one dtype, one after the other."""
    return _C.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of `flat`, which has the elements of all tensors, each as one of them."""
    return tuple(part.view_as(t) for part, t in zip(flat.split([t.numel() for t in tensors]), tensors))


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one dtype and device, of size_limit bytes if that is not less than one of them has."""
    lists = {}
    for tensor in tensors:
        key = tensor.dtype, tensor.device
        listed, size = lists.get(key, ([], 0))
        nbytes = tensor.numel() * tensor.element_size()
        if listed and size + nbytes > size_limit:
            yield listed
            listed, size = [], 0
        listed.append(tensor)
        lists[key] = listed, size + nbytes
    yield from (listed for listed, _ in lists.values() if listed)


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a storage of a dtype."""
    return _over(storage, storage._dtype, storage_offset, size, stride)


def _over(storage, dtype, offset, size, stride):
    same = isinstance(storage, TypedStorage) and storage._dtype is dtype  # then no element is looked at: it may be read later
    with StateOff():  # modes are shown the tensor that was made
        elements = storage._elements if same else tensor_over(storage, dtype)
        made = elements.as_strided(tuple(size), tuple(stride), offset).detach()
    return _C._shown(made)


def _marked(tensor, metadata, requires_grad):
    """What a tensor that was saved as a conjugate or a negative of its memory is."""
    for mark, is_set in (metadata or {}).items():
        if mark not in ("conj", "neg"):
            raise ValueError(f"load: a tensor with the mark {mark!r:.20}")
        tensor = (tensor.conj() if mark == "conj" else tensor.neg()) if is_set else tensor
    return tensor.requires_grad_(requires_grad)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """What a pickled tensor is made with; it has no hooks."""
    return _marked(_rebuild_tensor(storage, storage_offset, size, stride), metadata, requires_grad)


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """What a pickled tensor is made with whose storage is of bytes."""
    return _marked(_over(storage, dtype, storage_offset, size, stride), metadata, requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """What a pickled parameter is made with; it has no hooks."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """What a pickled parameter with attributes is made with."""
    param = Parameter(data, requires_grad)
    param.__dict__.update(state or {})
    return param


def _element_size(dtype):
    """The bytes of an element."""
    return dtype.itemsize


def _get_available_device_type():
    """"cuda", or None without a GPU."""
    from . import cuda
    return "cuda" if cuda.is_available() else None


def _get_device_module(device_type):
    """torch.cuda for "cuda"."""
    try:
        return import_module(f"{__package__}.{device_type}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.") from None


def _get_device_index(device, optional=False, allow_cpu=False):
    """The index of a device given as such, as text or as a number; -1 of the CPU.  Where it has none and `optional`, that of the current
    GPU, or None if there is none."""
    device = _C.device(device) if isinstance(device, str) else device
    index = device
    if isinstance(device, _C.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if device.type == "cpu" else device.index
    if isinstance(index, int):
        return index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return _C.cuda.current_device() if _C.cuda.is_available() else None


def _get_all_device_indices():
    """The indices of all GPUs."""
    return list(range(_C.cuda.device_count()))


def is_compiling():
    """False: see _is_compiling()."""
    return False


def _is_compiling():
    """False: nothing is ever traced."""
    return False


def _import_dotted_name(name):
    """Imports "package.module.name"."""
    first, *rest = name.split(".")
    obj = __import__(first)
    for part in rest:
        obj = getattr(obj, part)
    return obj


class ExceptionWrapper(Failure):
    """An exception as text, to be sent from one thread or process to another: the one that is handled, or of exc_info."""

    def __init__(self, exc_info=None, where="in background"):
        super().__init__((exc_info or sys.exc_info())[1], where)


class classproperty:
    """A property of a class."""

    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        return self.func(owner)
