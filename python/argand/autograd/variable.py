"""Variable, which has been Tensor for long, as torch.autograd.variable."""
from ._engine import Variable  # noqa: F401
