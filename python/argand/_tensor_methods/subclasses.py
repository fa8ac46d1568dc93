"""Subclasses of Tensor."""
from .. import _C
from .._dispatch import _disabled_torch_dispatch_impl, init_subclass
from .._ignored import harmless

Tensor = _C.Tensor
NOT_CONVERTED = {Tensor.grad.__get__, Tensor._grad.__get__, Tensor._base.__get__}  # what gives objects that are there already


def _check_free(data, cls):
    if _C._intercepts(data) and not issubclass(type(data), cls):
        raise RuntimeError(f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a python object "
                           f"of type {type(data).__name__}")


def _with_policies(t, sizes, device, layout):
    """See _dispatched_metadata.py."""
    if sizes is None and not device and not layout:
        return t
    from .. import _dispatched_metadata
    return _dispatched_metadata.apply(t, sizes, device, layout)


def _converted(result, cls):
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else _C._as_subclass(cls, result)
    if isinstance(result, (tuple, list)):
        parts = [_converted(r, cls) for r in result]
        if isinstance(result, tuple) and hasattr(result, "_fields"):  # a namedtuple
            return type(result)(*parts)
        return type(result)(parts)
    return result


class Subclasses:
    """How subclasses are made, and what they see of calls."""

    def as_subclass(self, cls):
        """The same elements, with their history, as an object of a subclass of Tensor."""
        _check_free(self, cls)
        return _C.alias(self) if cls is Tensor else _C._as_subclass(cls, self)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False, *, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False,
                       device_for_backend_keys=None):
        """The elements of a tensor as an object of a subclass of Tensor, without history."""
        if device_for_backend_keys is not None:
            raise NotImplementedError("Tensor._make_subclass: device_for_backend_keys: a tensor is on the device where its elements are")
        _check_free(data, cls)
        return _with_policies(_C._make_subclass(cls, data, require_grad), dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)

    @staticmethod
    @harmless(storage_size="there is no storage to look at", _extra_dispatch_keys="there are none")
    def _make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=_C.strided, device=None,
                               pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False,
                               dispatch_layout=False, _extra_dispatch_keys=None, storage_size=None):
        """A tensor of a subclass that has sizes, strides, a dtype and a device, and no elements: its __torch_dispatch__ says what ops make
        of it.  A look at its elements is an error."""
        if not isinstance(cls, type):
            raise TypeError(f"cls must be a type (got {type(cls).__name__})")
        if layout is not _C.strided:
            raise NotImplementedError(f"Tensor._make_wrapper_subclass: layout: expected torch.strided, got {layout}")
        if pin_memory:
            raise NotImplementedError("Tensor._make_wrapper_subclass: pin_memory: there is no memory to pin")
        if "__torch_dispatch__" not in dir(cls) or cls.__torch_dispatch__ is Tensor.__torch_dispatch__:
            raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
        if strides is None and memory_format is not None:
            strides = _C.empty(size, memory_format=memory_format, device="meta").stride()
        dtype = _C.get_default_dtype() if dtype is None else dtype
        device = _C.device("cpu") if device is None else _C.device(device)
        t = _C._wrapper(cls, list(size), None if strides is None else list(strides), storage_offset or 0, dtype, device, requires_grad)
        return _with_policies(t, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What functions do with subclasses of Tensor: they take them as tensors, and results are of the subclass."""
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with _C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return result if cls is Tensor or func in NOT_CONVERTED else _converted(result, cls)

    __torch_dispatch__, __init_subclass__ = staticmethod(_disabled_torch_dispatch_impl), classmethod(init_subclass)
