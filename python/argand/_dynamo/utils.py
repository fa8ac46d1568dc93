"""Names of torch._dynamo.utils that packages import."""
from .._ignored import harmless
from .._named_modules import names_of as _names_of


@harmless(device_type="nothing is compiled for any")
def is_compile_supported(device_type):
    """False: torch.compile() gives back what it gets."""
    return False


__getattr__ = _names_of(__name__)
