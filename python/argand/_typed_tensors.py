"""torch.FloatTensor and the like: constructors of tensors of one dtype, and types by their names."""
from . import _C
from ._dtypes import TENSOR_TYPES
from .storage import TypedStorage, UntypedStorage

Tensor = _C.Tensor


def dtype_and_device_of(name):
    """("torch.cuda.FloatTensor") -> (float32, "cuda")"""
    kind = name.rpartition(".")[2]
    for dtype, text in TENSOR_TYPES.items():
        if text == kind:
            return dtype, "cuda" if ".cuda." in name else "cpu"
    raise ValueError(f"invalid type: '{name}'")


class _TypedMeta(type):
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
