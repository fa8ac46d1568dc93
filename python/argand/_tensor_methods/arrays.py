"""Tensors as arrays of other libraries."""
from .. import _C
from .._dtypes import FACTS, TYPESTRS


class _Memory:
    """The memory of a tensor, for NumPy, which keeps this object for as long as an array looks at it.

    The memory stays where it is, even if the tensor is given other memory: it is not resized, and this object owns it."""
    __slots__ = ("__array_interface__", "owner")

    def __init__(self, tensor):
        self.owner = _C._hold_memory(tensor)
        itemsize = tensor.itemsize
        self.__array_interface__ = {
            "version": 3, "shape": tuple(tensor.shape), "typestr": TYPESTRS[tensor.dtype],
            "data": (tensor.data_ptr(), False), "strides": tuple(s * itemsize for s in tensor.stride())}


class Arrays:
    """What NumPy, DLPack and CUDA's array interface ask for."""

    __array_priority__ = 1000  # np.float32(2) * tensor is a tensor

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
        if self.dtype not in TYPESTRS:
            raise TypeError(f"Got unsupported ScalarType {FACTS[self.dtype].kind}")
        if self.numel() == 0:
            return np.empty(tuple(self.shape), TYPESTRS[self.dtype])
        return np.asarray(_Memory(self))

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None:
            return array.astype(dtype, copy=bool(copy))
        return array.copy() if copy else array

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None, read_only=False):
        """A DLPack capsule over the same memory, or over a copy on the device dl_device, (type, index).  `stream`, of a tensor on a GPU,
        is the consumer's; on the CPU there is none to give.  max_version: from (1, 0) on the capsule tells whether it is a copy, and may be read_only."""
        from ..utils import dlpack
        return dlpack.export(self, stream, max_version, dl_device, copy, read_only)

    def __dlpack_device__(self):
        """DLPack's (device type, device index)."""
        from ..utils import dlpack
        kind, index = _C._dlpack_device(self)
        return dlpack.DLDeviceType(kind), index

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
        described = {"version": 2, "shape": tuple(self.shape), "typestr": TYPESTRS[self.dtype],
                     "data": (self.data_ptr(), False), "strides": tuple(s * itemsize for s in self.stride())}
        if self.is_contiguous():
            described["strides"] = None
        return described
