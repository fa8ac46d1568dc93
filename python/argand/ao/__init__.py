"""torch.ao: the parts of quantization that floating-point models contain."""
from . import quantization  # noqa: F401
