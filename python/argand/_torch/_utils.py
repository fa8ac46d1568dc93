"""Names of torch._utils that packages import."""
import sys

from .. import _C
from .._copies import _rebuild_meta_tensor_no_storage, _rebuild_wrapper_subclass  # noqa: F401
from .._device_names import _get_device_index, _get_device_module  # noqa: F401
from .._failures import Failure
from .._serialization.rebuilding import (_rebuild_parameter, _rebuild_parameter_with_state, _rebuild_tensor, _rebuild_tensor_v2,  # noqa: F401
                           _rebuild_tensor_v3)


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


def _element_size(dtype):
    """The bytes of an element."""
    return dtype.itemsize


def _get_available_device_type():
    """"cuda", or None without a GPU."""
    from .. import cuda
    return "cuda" if cuda.is_available() else None


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
