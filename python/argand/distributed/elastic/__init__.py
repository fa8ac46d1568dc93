"""Parts of torchrun that programs import, as torch.distributed.elastic."""
from ..._named_modules import names_of

__getattr__ = names_of(__name__)
