"""Variable, which has been Tensor for long, as torch.autograd.variable."""
from .. import _C

Variable = _C.Tensor
