"""CUDA devices, as torch.cuda."""
from .. import _C

is_available, device_count = _C.cuda.is_available, _C.cuda.device_count


def get_rng_state(device="cuda"):
    """To come."""
