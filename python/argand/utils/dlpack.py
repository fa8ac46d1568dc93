"""Tensors exchanged with other libraries by DLPack, without copies.

A capsule without a version says nothing of the memory but where it is; one of version 1 also whether it may be written and
whether it is a copy.  Memory that may not be written makes a tensor all the same, as in PyTorch: writing to it is undefined."""
import enum

from .. import _C
from .._C import Tensor


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of devices."""
    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3  # page-locked memory
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_DEVICES = {DLDeviceType.kDLCPU: "cpu", DLDeviceType.kDLCUDA: "cuda", DLDeviceType.kDLCUDAHost: "cpu"}


def _is_new(max_version):
    return max_version is not None and max_version[0] >= 1


def _check_stream(tensor, stream):
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream in (None, -1):
        return
    if not tensor.is_cuda:
        raise AssertionError("stream should be None on cpu.")
    if stream == 2:
        raise BufferError("per-thread default stream is not supported.")
    if stream == 0:
        raise AssertionError(f"unsupported stream on CUDA: {stream}.")


def _on_device(tensor, dl_device, copy):
    """The tensor where a consumer wants it."""
    if not isinstance(dl_device, tuple) or len(dl_device) != 2 or not all(isinstance(n, int) for n in dl_device):
        raise TypeError(f"_to_dlpack(): argument 'dl_device' must be tuple of ints, not {type(dl_device).__name__}")
    kind, index = dl_device
    if kind not in _DEVICES:
        raise BufferError(f"Unsupported device_type: {int(kind)}")
    device = _C.device("cpu") if _DEVICES[kind] == "cpu" else _C.device("cuda", index)
    if device != tensor.device and copy is False:
        raise ValueError(f"cannot move (i.e. copy=False) tensor from {tensor.device} to {device} without copying.")
    return tensor.to(device)


def export(tensor, stream, max_version, dl_device, copy, read_only):
    """Tensor.__dlpack__."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"__dlpack__(): argument 'copy' must be bool, not {type(copy).__name__}")
    _check_stream(tensor, stream)
    if read_only and not _is_new(max_version):
        raise BufferError("read_only export requires the versioned DLPack protocol; pass max_version=(1, 0) or higher")
    shown = tensor if dl_device is None else _on_device(tensor, dl_device, copy)
    if copy and shown is tensor:
        shown = tensor.clone()
    return _C._to_dlpack(shown, _is_new(max_version), bool(read_only), shown is not tensor)


def to_dlpack(tensor):
    """A capsule without a version with the tensor's memory, for from_dlpack of any library; to be taken once."""
    return _C._to_dlpack(tensor, False, False, False)


def _capsule_of(producer, arguments):
    """The capsule, and whether the producer knew of `copy`: older ones know fewer arguments."""
    for missing in ((), ("max_version",), ("max_version", "copy"), ("max_version", "copy", "dl_device")):
        given = {name: value for name, value in arguments.items() if name not in missing}
        try:
            return producer.__dlpack__(**given), "copy" not in missing
        except TypeError:
            if len(missing) == 3:
                raise


def _number_of(device, place):
    """DLPack's name of a device, for a tensor that is at `place`."""
    if device.type not in ("cpu", "cuda"):
        raise BufferError(f"Cannot pack tensors on {device}")
    if device.type == "cpu":
        return (place[0] if place[0] == DLDeviceType.kDLCUDAHost else DLDeviceType.kDLCPU), 0
    if device.index is None and place[0] == DLDeviceType.kDLCUDA:
        return DLDeviceType.kDLCUDA, _C.cuda.current_device()
    return DLDeviceType.kDLCUDA, device.index or 0


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of an object with __dlpack__, or of a DLPack capsule; on the device, which takes a copy where the memory
    is on another one.  copy: always (True), never (False: ValueError where it must be), or where it must be."""
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return _C._from_dlpack(ext_tensor)
    place = ext_tensor.__dlpack_device__()
    arguments = {"max_version": (1, 0)} | ({} if copy is None else {"copy": copy})
    moves = False
    if device is not None:
        if not isinstance(device, (str, _C.device)):
            raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
        device = _C.device(device)
        target = _number_of(device, place)
        moves = tuple(place) != target
        if moves and copy is False:
            raise ValueError(f"cannot move DLPack tensor from device {tuple(map(int, place))} to {tuple(map(int, target))} "
                             "without copying. Set copy=None or copy=True.")
        if not moves:
            arguments["dl_device"] = target
    if place[0] == DLDeviceType.kDLCUDA:  # what the producer has under way there is awaited by our stream; 1: the default one
        arguments["stream"] = _current_stream(place[1]) or 1
    capsule, knows_copy = _capsule_of(ext_tensor, arguments)
    tensor = _C._from_dlpack(capsule)
    if moves:
        return tensor.to(device)
    return tensor.clone() if copy and not knows_copy else tensor


def _current_stream(index):
    return _C.cuda._current_stream(index).cuda_stream


class ReadOnlyTensorWrapper(Tensor):
    """The memory of a tensor, for consumers that must not write it: its capsules say so, and nothing else can be done with it."""

    @staticmethod
    def __new__(cls, tensor):
        return tensor.as_subclass(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in (Tensor.__dlpack__, Tensor.__dlpack_device__):
            raise RuntimeError(f"{cls.__name__} only supports DLPack export; '{getattr(func, '__name__', func)}' is not allowed. "
                               "Unwrap the tensor to operate on its data.")
        with _C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def __dlpack__(self, *, max_version=None, **kwargs):
        return super().__dlpack__(max_version=max_version or (1, 0), read_only=True, **kwargs)
