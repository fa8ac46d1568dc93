"""Parts of torchrun that programs import, as torch.distributed.elastic."""
from ... import _surface

__getattr__, __dir__ = _surface.of(__name__)
