"""The index of a CUDA device, under the module name by which packages import the function."""
from .. import _C
from .._device_names import _get_device_index as _of_any_kind


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a device given as one, as its name or as its number; None and "cuda" are the current device if `optional`, and the
    CPU is -1 if `allow_cpu`.  ValueError for another kind of device."""
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        kinds = ("cuda", "cpu") if allow_cpu else ("cuda",)
        if device.type not in kinds:
            raise ValueError(f"Expected a {' or '.join(kinds)} device, but got: {device}")
    return _of_any_kind(device, optional, allow_cpu)
