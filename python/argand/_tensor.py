"""Methods of Tensor that are written in Python; importing this module adds them."""
import copyreg
import numbers
import warnings
import weakref

from . import _C, _given_hooks, _global_settings, _sharing
from ._hook_handles import RemovedByCall
from ._ignored import harmless
from ._tensor_arguments import need_tensors
from .storage import TypedStorage, UntypedStorage, _warn_typed_storage_removal
from ._typed_storage import KINDS, ON_CPU

Tensor = _C.Tensor
for _type in (Tensor, _C.Size):
    _type.__name__ = _type.__name__  # errors of Python's then name it without its module, as any class
_TYPESTR = {_C.float32: "<f4", _C.float64: "<f8", _C.float16: "<f2", _C.int8: "|i1", _C.int16: "<i2", _C.int32: "<i4",
            _C.int64: "<i8", _C.uint8: "|u1", _C.bool: "|b1", _C.complex64: "<c8", _C.complex128: "<c16"}
_TYPE_NAMES = {_C.float32: "FloatTensor", _C.float64: "DoubleTensor", _C.float16: "HalfTensor",
               _C.bfloat16: "BFloat16Tensor", _C.uint8: "ByteTensor", _C.int8: "CharTensor", _C.int16: "ShortTensor",
               _C.int32: "IntTensor", _C.int64: "LongTensor", _C.bool: "BoolTensor",
               _C.complex64: "ComplexFloatTensor", _C.complex128: "ComplexDoubleTensor"}


def method(function):
    """Makes `function` a method of Tensor under its own name."""
    setattr(Tensor, function.__name__, function)
    return function


# ---- text


def _text_of_wrapper(self, contents):
    """The text of a tensor whose class intercepts ops: its elements are not read."""
    parts = ["..." if contents is None else contents]
    if self.device.type != "cpu":
        parts.append(f"device='{self.device}'")
    if contents is None:
        parts.append(f"size={tuple(self.shape)}")
        if self.dtype != _C.get_default_dtype():
            parts.append(f"dtype={self.dtype}")
    if self.grad_fn is not None:
        parts.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self.requires_grad:
        parts.append("requires_grad=True")
    return _as_parameter(self, f"{type(self).__name__}({', '.join(parts)})")


def _as_parameter(self, text):
    """A tensor of another class that Parameter() made a parameter says so."""
    return f"Parameter({text})" if getattr(self, "_is_param", False) else text


@method
def __repr__(self, *, tensor_contents=None):
    if _C._intercepts(self):
        return _text_of_wrapper(self, tensor_contents)
    text = self._text(**_global_settings.print_options)
    if tensor_contents is not None:  # in the place of the elements
        end = text.rindex("]") + 1 if "]" in text else text.find(", ") if ", " in text else len(text) - 1
        text = f"tensor({tensor_contents}{text[end:]}"
    from .autograd import forward_ad
    if forward_ad._is_open():
        tangent = forward_ad.unpack_dual(self).tangent
        if tangent is not None:
            text = f"{text[:-1]}, tangent={tangent!r})"
    if type(self) is Tensor:
        return text
    name = type(self).__name__
    return f"{name} containing:\n{text}" if name == "Parameter" else _as_parameter(self, text.replace("tensor(", name + "(", 1))


@method
def __format__(self, spec):
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


# ---- autograd

_run_backward = None  # autograd/__init__.py sets it, when Tensor has all its methods


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Sums the gradients of this tensor into .grad of the leaves it depends on (or of `inputs` alone)."""
    _run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@method
def register_hook(self, hook):
    """Calls `hook` with the gradient of this tensor, whenever one is computed; what it returns, if anything, replaces it."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    handle = _C._register_hook(self, hook)
    return RemovedByCall(lambda: _C._remove_hook(self, handle))


Tensor._backward_hooks = _given_hooks.attribute


@method
def register_post_accumulate_grad_hook(self, hook):
    """Calls `hook` with this leaf whenever backward has added to its .grad: where an optimizer can step, and free it."""
    handle = _C._register_post_accumulate_grad_hook(self, hook)
    return RemovedByCall(lambda: _C._remove_hook(self, handle))


@method
def module_load(self, other, assign=False):
    """What a module that loads `other` into this parameter or buffer gives it, where torch.__future__'s swapping is on: another object."""
    return other.detach() if assign else self.copy_(other).detach()


def _volatile(self):
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


Tensor.volatile = property(_volatile, doc="False, with a warning: torch.no_grad() took its place.")


# ---- other forms of the elements


class _Memory:
    """The memory of a tensor, for NumPy, which keeps this object for as long as an array looks at it.

    The memory stays where it is, even if the tensor is given other memory: it is not resized, and this object owns it."""
    __slots__ = ("__array_interface__", "owner")

    def __init__(self, tensor):
        self.owner = _C._hold_memory(tensor)
        itemsize = tensor.itemsize
        self.__array_interface__ = {
            "version": 3, "shape": tuple(tensor.shape), "typestr": _TYPESTR[tensor.dtype],
            "data": (tensor.data_ptr(), False), "strides": tuple(s * itemsize for s in tensor.stride())}


@method
def numpy(self, *, force=False):
    """A NumPy array over the same memory; `force`: over a copy, if it is elsewhere or requires grad."""
    import numpy as np
    if _C._intercepts(self):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")
    if force:
        self = self.detach().cpu()
    if not self.is_cpu:
        raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                        "host memory first.")
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.dtype not in _TYPESTR:
        raise TypeError(f"Got unsupported ScalarType {_TYPE_NAMES[self.dtype].removesuffix('Tensor')}")
    if self.numel() == 0:
        return np.empty(tuple(self.shape), _TYPESTR[self.dtype])
    return np.asarray(_Memory(self))


@method
def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None:
        return array.astype(dtype, copy=bool(copy))
    return array.copy() if copy else array


@method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None, read_only=False):
    """A DLPack capsule over the same memory, or over a copy on the device dl_device, (type, index).  `stream`, of a tensor on a GPU,
    is the consumer's; on the CPU there is none to give.  max_version: from (1, 0) on the capsule tells whether it is a copy, and may be read_only."""
    from .utils import dlpack
    return dlpack.export(self, stream, max_version, dl_device, copy, read_only)


@method
def __dlpack_device__(self):
    """DLPack's (device type, device index)."""
    from .utils import dlpack
    kind, index = _C._dlpack_device(self)
    return dlpack.DLDeviceType(kind), index


Tensor.__array_priority__ = 1000  # np.float32(2) * tensor is a tensor


@method
def __array_wrap__(self, array, context=None, return_scalar=False):
    """Converts results of NumPy's functions on tensors to tensors; bools become uint8."""
    return _C.from_numpy(array.astype("uint8") if array.dtype == bool else array)


@property
def __cuda_array_interface__(self):
    """The memory on a GPU, for CuPy, Numba and others."""
    if not self.is_cuda:
        raise AttributeError("__cuda_array_interface__")
    if self.requires_grad:
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad. Use var.detach() first.")
    itemsize = self.itemsize
    described = {"version": 2, "shape": tuple(self.shape), "typestr": _TYPESTR[self.dtype],
                 "data": (self.data_ptr(), False), "strides": tuple(s * itemsize for s in self.stride())}
    if self.is_contiguous():
        described["strides"] = None
    return described


Tensor.__cuda_array_interface__ = __cuda_array_interface__


@method
def __iter__(self):
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method
def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


@method
def __contains__(self, element):
    if isinstance(element, (Tensor, numbers.Number)):
        return bool((element == self).any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@method
def __complex__(self):
    return complex(self.item())


# ---- numbers from the left: `2 ** x` and the like come from the same operators


@method
def __dir__(self):
    names = set(object.__dir__(self))
    if not self.is_cuda:
        names.discard("__cuda_array_interface__")
    return sorted(names)


# ---- dtypes and devices


def _named_dtype(name):
    return getattr(_C, name)


def _named_layout(name):
    from .serialization import _get_layout
    return _get_layout, (name,)


copyreg.pickle(_C.layout, lambda layout: _named_layout(str(layout)))
copyreg.pickle(_C.dtype, lambda dtype: (_named_dtype, (repr(dtype).removeprefix("torch."),)))


def _conversion(name, dtype):
    def convert(self, memory_format=None):
        return self.to(dtype, memory_format=memory_format)
    convert.__name__, convert.__doc__ = name, f"The tensor as {dtype}; itself if it is."
    setattr(Tensor, name, convert)


for _name, _dtype in (("float", _C.float32), ("double", _C.float64), ("half", _C.float16), ("bfloat16", _C.bfloat16),
                      ("long", _C.int64), ("int", _C.int32), ("short", _C.int16), ("char", _C.int8), ("byte", _C.uint8),
                      ("bool", _C.bool), ("cfloat", _C.complex64), ("cdouble", _C.complex128)):
    _conversion(_name, _dtype)


def dtype_and_device_of(name):
    """("torch.cuda.FloatTensor") -> (float32, "cuda")"""
    kind = name.rpartition(".")[2]
    for dtype, text in _TYPE_NAMES.items():
        if text == kind:
            return dtype, "cuda" if ".cuda." in name else "cpu"
    raise ValueError(f"invalid type: '{name}'")


@method
def type(self, dtype=None, non_blocking=False, *, memory_format=_C.preserve_format, **kwargs):
    """Without an argument the name of the tensor type ("torch.FloatTensor"), else the tensor as that type."""
    non_blocking = kwargs.pop("async", non_blocking)
    if kwargs:
        raise TypeError(f"type() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if dtype is None:
        # harmless(memory_format): nothing is copied
        return ("torch.cuda." if self.is_cuda else "torch.") + _TYPE_NAMES[self.dtype]
    device = None
    if isinstance(dtype, str):
        dtype, device = dtype_and_device_of(dtype)
    elif isinstance(dtype, builtin_type) and hasattr(dtype, "_argand_dtype"):
        dtype, device = dtype._argand_dtype, "cuda" if dtype.is_cuda else "cpu"
    elif dtype is Tensor:
        dtype = _C.get_default_dtype()
    return self.to(device=device or self.device, dtype=dtype, non_blocking=non_blocking, memory_format=memory_format)


import builtins as _builtins  # noqa: E402

builtin_type = _builtins.type
type = builtin_type  # the method above is Tensor's alone


class _TypedMeta(builtin_type):
    def __new__(mcs, name, bases, *args):
        for base in bases:
            if isinstance(base, _TypedMeta):
                raise TypeError(f"type '{base.__module__}.{base.__name__}' is not an acceptable base type")
        return super().__new__(mcs, name, bases, *args)

    def __instancecheck__(cls, obj):
        return isinstance(obj, Tensor) and obj.dtype is cls._argand_dtype and obj.is_cuda == cls.is_cuda


def typed_tensor(name, dtype, device="cpu"):
    """torch.FloatTensor and the like: a constructor of tensors of one dtype, and a type for isinstance."""
    def new(cls, *args, **kwargs):
        given = kwargs.pop("device", None)
        if given is not None:
            _check_legacy(device, given, args)
        return _new(dtype, _C.device(given or device), *args, **kwargs)
    return _TypedMeta(name, (), {"__new__": new, "_argand_dtype": dtype, "dtype": dtype, "is_cuda": device == "cuda", "is_xpu": False,
                                 "is_sparse": False, "layout": _C.strided, "__module__": "torch.cuda" if device == "cuda" else "torch"})


# ---- views of storages


_storages = weakref.WeakValueDictionary()  # by number; each keeps a tensor of its memory, so that the number stays its own


@method
def untyped_storage(self):
    """The bytes behind this tensor: the same object for as long as somebody holds it."""
    number = _C._storage_id(self)
    known = _storages.get(number)
    if known is None or known.nbytes() != _C._storage_nbytes(self):
        known = _storages[number] = UntypedStorage(self)
    return known


@method
def storage(self):
    """The elements behind this tensor and its views, in the order in which they lie."""
    _warn_typed_storage_removal()
    return self._typed_storage()


@method
def _typed_storage(self):
    return TypedStorage(wrap_storage=UntypedStorage(self), dtype=self.dtype, _internal=True)


@method
def storage_type(self):
    """The class of its storage(), torch.FloatStorage or the like."""
    kind = KINDS[self.dtype]
    if self.is_cuda:
        from .cuda import _legacy_types
        return getattr(_legacy_types, kind)
    return ON_CPU[kind]


@method
def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """Makes the tensor one over the memory of a tensor or a storage, with these sizes and strides, or of no elements."""
    whole = storage_offset is None and size is None and stride is None
    if not whole and (source is None or storage_offset is None or size is None):
        raise TypeError("set_() received an invalid combination of arguments: expected (), (source) or (source, storage_offset, size, "
                        "stride)")
    storage_offset = storage_offset or 0
    if source is None:
        source = _C.empty(0, dtype=self.dtype, device=self.device)
    elif size is not None or not isinstance(source, Tensor):
        elements = source.detach() if isinstance(source, Tensor) else source._tensor_over(self.dtype)
        size = (elements.numel() - storage_offset,) if size is None else size
        stride = _C.empty(size, device="meta").stride() if stride is None else stride
        source = elements.as_strided(size, stride, storage_offset)
    if source.dtype is not self.dtype:
        raise _C.DtypeError(f"set_: expected a source of {self.dtype}, got one of {source.dtype}")
    if source.device != self.device:
        raise _C.DeviceError(f"set_: expected a source on {self.device}, got one on {source.device}")
    self.data = source
    return self


@method
def as_strided_(self, size, stride, storage_offset=None):
    """as_strided() of the tensor itself; elements stay where they are."""
    _C._become_strided(self, self.as_strided(size, stride, storage_offset))
    return self


# ---- ops whose Python form is not the schema's


@method
def new(self, *args, size=None, device=None):
    """A tensor of the same dtype and device: of some sizes, or of elements that are given."""
    if device is not None:
        _check_legacy(self.device.type, device, args)
    return _new(self.dtype, self.device if device is None else device, *args, size=size)


def _check_legacy(there, device, args):
    """A `device` may be given to constructors of a type, and must be of the type's."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        raise RuntimeError("new(): Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported. Use "
                           "torch.tensor(...) or torch.as_tensor(...) instead.")
    given = _C.device(device)
    if given.type != there:
        raise RuntimeError(f"legacy constructor expects device type: {there} but device type: {given.type} was passed")


def _new(dtype, device, *args, size=None):
    """What constructors of a dtype make: a tensor of some sizes or elements; of a tensor or a storage, over its memory."""
    if size is not None:
        args = (*args, _C.Size(size))
    if not args or isinstance(args[-1], _C.Size):
        return _C.empty(*(args or (0,)), dtype=dtype, device=device)
    if len(args) == 1 and isinstance(args[0], Tensor):
        if args[0].dtype is not dtype:
            raise TypeError(f"new(): expected a tensor of {dtype}, got one of {args[0].dtype}")
        return _C.alias(args[0].detach())
    if len(args) == 1 and isinstance(args[0], (TypedStorage, UntypedStorage)):
        return args[0]._tensor_over(dtype)
    return _C.tensor(args[0], dtype=dtype, device=device) if _C._is_legacy_data(args) else _C.empty(args, dtype=dtype, device=device)


@method
def where(self, condition, y):
    """This tensor where condition holds, y elsewhere."""
    return _C.where(condition, self, y)


@method
def split(self, split_size, dim=0):
    """The tensor in parts of `split_size`, an int or the sizes of all parts, views."""
    return _split(self, split_size if isinstance(split_size, (int, Tensor)) else tuple(split_size), dim)


_split = _C.split


@method
def unflatten(self, dim, sizes):
    """A dimension as several."""
    if isinstance(dim, str):
        raise TypeError("unflatten(): argument 'dim' (position 1) must be int, not str")
    return _C.unflatten(self, dim, tuple(sizes))


@method
def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    """See torch.norm."""
    from ._functions import norm as function
    return function(self, p, dim, keepdim, dtype=dtype)


@method
def _fix_weakref(self):
    """What PyTorch needs after a weak reference was followed: here such a tensor is as any."""


@method
def is_set_to(self, tensor):
    """Whether both are the same elements of the same storage."""
    return (self.untyped_storage() == tensor.untyped_storage() and self.storage_offset() == tensor.storage_offset()
            and self.shape == tensor.shape and self.stride() == tensor.stride())


@method
def as_subclass(self, cls):
    """The same elements, with their history, as an object of a subclass of Tensor."""
    _check_free(self, cls)
    return _C.alias(self) if cls is Tensor else _C._as_subclass(cls, self)


# ---- subclasses


def _check_free(data, cls):
    if _C._intercepts(data) and not issubclass(builtin_type(data), cls):
        raise RuntimeError(f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a python object "
                           f"of type {builtin_type(data).__name__}")


def _make_subclass(cls, data, require_grad=False, *, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False,
                   device_for_backend_keys=None):
    """The elements of a tensor as an object of a subclass of Tensor, without history."""
    if device_for_backend_keys is not None:
        raise NotImplementedError("Tensor._make_subclass: device_for_backend_keys: a tensor is on the device where its elements are")
    _check_free(data, cls)
    return _with_policies(_C._make_subclass(cls, data, require_grad), dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)


def _with_policies(t, sizes, device, layout):
    """See _dispatched_metadata.py."""
    if sizes is None and not device and not layout:
        return t
    from . import _dispatched_metadata
    return _dispatched_metadata.apply(t, sizes, device, layout)


Tensor._make_subclass = staticmethod(_make_subclass)


@harmless(storage_size="there is no storage to look at", _extra_dispatch_keys="there are none")
def _make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=_C.strided, device=None,
                           pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False,
                           dispatch_layout=False, _extra_dispatch_keys=None, storage_size=None):
    """A tensor of a subclass that has sizes, strides, a dtype and a device, and no elements: its __torch_dispatch__ says what ops make
    of it.  A look at its elements is an error."""
    if not isinstance(cls, builtin_type):
        raise TypeError(f"cls must be a type (got {builtin_type(cls).__name__})")
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


Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


def _converted(result, cls):
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else _C._as_subclass(cls, result)
    if isinstance(result, (tuple, list)):
        parts = [_converted(r, cls) for r in result]
        if isinstance(result, tuple) and hasattr(result, "_fields"):  # a namedtuple
            return type(result)(*parts)
        return type(result)(parts)
    return result


_NOT_CONVERTED = {Tensor.grad.__get__, Tensor._grad.__get__, Tensor._base.__get__}  # objects that are there


def __torch_function__(cls, func, types, args=(), kwargs=None):
    """What functions do with subclasses of Tensor: they take them as tensors, and results are of the subclass."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with _C.DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if cls is Tensor or func in _NOT_CONVERTED else _converted(result, cls)


Tensor.__torch_function__ = classmethod(__torch_function__)


@method
def share_memory_(self):
    """Moves the storage, for all its views, to memory that other processes see, too, when the tensor is sent to them or they are forked.
    Where an array shows the memory, the tensor alone moves.  A GPU's stay where they are: that memory is shared as it is."""
    if not self.is_cuda:
        _sharing.reductions().share(self)
    return self


@method
@harmless(stream="memory is given back when all streams that used it are done with it, without being told")
def record_stream(self, stream):
    """Accepted: memory is given back when all streams that used it are done with it, without being told."""
    if not self.is_cuda:
        raise RuntimeError(f"record_stream: expected a tensor on a GPU, got one on {self.device}")


@method
@harmless(masked_grad="all tensors are dense, so there is no mask")
def to_dense(self, dtype=None, *, masked_grad=None):
    """Itself, or in another dtype: all tensors are dense."""
    if masked_grad is not None and not isinstance(masked_grad, bool):
        raise TypeError(f"to_dense(): argument 'masked_grad' must be bool, not {type(masked_grad).__name__}")
    return self if dtype is None else self.to(dtype=dtype)


@method
def map_(self, tensor, callable):
    """Each element becomes callable(element, that of `tensor` at its place): slow, on the CPU alone."""
    need_tensors("map_", tensor=tensor)
    if not self.is_cpu:
        raise TypeError("map_ is only implemented on CPU tensors")
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    other = tensor.expand_as(self)
    values = [callable(x, y) for x, y in zip(self.flatten().tolist(), other.flatten().tolist())]
    return self.copy_(_C.tensor(values, dtype=self.dtype).view(self.shape))


@method
def map2_(self, x, y, callable):
    """Each element becomes callable(element, those of `x` and `y` at its place): slow, on the CPU alone."""
    need_tensors("map2_", x=x, y=y)
    if not self.is_cpu:
        raise TypeError("map2_ is only implemented on CPU tensors")
    if any(t.requires_grad for t in (self, x, y)) and _C.is_grad_enabled():
        raise RuntimeError("Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead.")
    rows = (t.expand_as(self).flatten().tolist() for t in (self, x, y))
    return self.copy_(_C.tensor([callable(*row) for row in zip(*rows)], dtype=self.dtype).view(self.shape))


@method
def dim_order(self, *, ambiguity_check=False):
    """The dimensions from the one whose elements lie farthest apart to the nearest.  ambiguity_check: RuntimeError where more than one
    order fits the strides; a list of memory formats: where not exactly one of them does."""
    if not isinstance(ambiguity_check, (bool, list)) or isinstance(ambiguity_check, list) and not all(
            isinstance(f, _C.memory_format) for f in ambiguity_check):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if ambiguity_check:
        formats = [] if ambiguity_check is True else ambiguity_check
        fits = sum(self.is_contiguous(memory_format=f) for f in formats)
        strides = self.stride()
        unique = all(n > 1 for n in self.shape) and len(set(strides)) == len(strides)
        if fits != 1 and (formats or not unique):
            raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
    if self.is_contiguous():
        return tuple(range(self.dim()))
    channels_last = {4: _C.channels_last, 5: _C.channels_last_3d}.get(self.dim())
    if channels_last is not None and self.is_contiguous(memory_format=channels_last):
        return (0, *range(2, self.dim()), 1)
    strides = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: -strides[d]))


@method
def sparse_dim(self):
    """0: every tensor is dense."""
    return 0


@method
def dense_dim(self):
    """The number of dimensions: every tensor is dense."""
    return self.dim()


@method
def is_shared(self):
    """Whether other processes see what is written: after share_memory_(), and on a GPU always, but where the driver cannot share memory."""
    return _sharing.reductions().is_shared(self)


@method
def apply_(self, callable):
    """Replaces each element by callable(element); CPU only and slow."""
    if not self.is_cpu:
        raise TypeError("apply_ is only implemented on CPU tensors")
    flat = [callable(v) for v in self.reshape(-1).tolist()]
    for value in flat:
        if not isinstance(value, (numbers.Number, Tensor)):
            raise TypeError(f"apply_: expected the function to return a number, got {type(value).__name__}")
    return self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))


# ---- what older programs and other devices have


@method
def polygamma(self, n):
    """See torch.polygamma."""
    return _C.polygamma(n, self)


def _in_place(name):
    function = getattr(Tensor, name)

    def write(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        if result.dtype is not self.dtype:
            raise RuntimeError(f"{name}_: the result has dtype {result.dtype}, the tensor it would be written to {self.dtype}")
        return self.copy_(result)
    write.__name__, write.__doc__ = name + "_", f"Writes the result of {name}() to the tensor."
    method(write)


for _name in ("polygamma",):
    _in_place(_name)
for _name in ("is_ipu", "is_maia", "is_mtia", "is_sparse_csr", "is_vulkan", "is_xla"):
    setattr(Tensor, _name, property(lambda self: False, doc="False: there are no such tensors."))


@method
@harmless(self="a tensor is one process's")
def is_distributed(self):
    """False: a tensor is one process's."""
    return False


Tensor.__div__, Tensor.__rdiv__, Tensor.__idiv__ = Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__  # Python 2's names


from ._copies import _from_bytes, _rebuild, _rebuild_from_type_v2, _restore, _set_state, is_sent  # noqa: E402,F401 -- pickles name some of them here
