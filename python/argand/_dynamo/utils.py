"""What packages ask of torch._dynamo.utils."""
from .._ignored import harmless


@harmless(device_type="nothing is compiled for any")
def is_compile_supported(device_type):
    """False: torch.compile() gives back what it gets."""
    return False
