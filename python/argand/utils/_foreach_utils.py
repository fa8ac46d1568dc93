"""What optimizers written after PyTorch's ask of lists of tensors."""
from .. import _C
from ..optim._for_others import _get_foreach_kernels_supported_devices, _get_fused_kernels_supported_devices  # noqa: F401
from ..optim.optimizer import Optimizer


def _device_has_foreach_support(device):
    """Whether torch._foreach_ functions take the device's tensors at once."""
    return device.type in ("cpu", *_get_foreach_kernels_supported_devices())


def _has_foreach_support(tensors, device):
    """Whether they take these."""
    return _device_has_foreach_support(device) and all(t is None or type(t) is _C.Tensor for t in tensors)


_group_tensors_by_device_and_dtype = Optimizer._group_tensors_by_device_and_dtype
