"""What the name of a device stands for: its index, and the module of its kind."""
from importlib import import_module

from . import _C
from ._surface.naming import own


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


def _get_device_module(device_type):
    """torch.cuda for "cuda"."""
    try:
        return import_module(own(device_type))
    except ModuleNotFoundError:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.") from None
