"""Names of torch._dynamo.utils that packages import."""
from ..._ignored import harmless
from ... import _surface


@harmless(device_type="nothing is compiled for any")
def is_compile_supported(device_type):
    """False: torch.compile() gives back what it gets."""
    return False


__getattr__, __dir__ = _surface.of(__name__)
