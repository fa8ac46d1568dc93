"""torch.ao: of it, what models of floating-point numbers carry of quantization."""
from . import quantization  # noqa: F401
