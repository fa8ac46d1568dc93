"""DistributedDataParallel: its name, for programs that use it when they are several processes."""
from ...distributed import _unavailable
from ..modules.module import Module


class DistributedDataParallel(Module):
    """One model in several processes, which cannot be joined yet: making one raises NotImplementedError."""

    def __init__(self, *_, **__):
        raise _unavailable("torch.nn.parallel.DistributedDataParallel")
