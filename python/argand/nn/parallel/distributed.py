"""DistributedDataParallel: its name, for programs that use it when they are several processes."""
from ...distributed import _WHY
from ..modules.module import Module


class DistributedDataParallel(Module):
    """One model in several processes, which cannot be joined yet: making one raises NotImplementedError."""

    def __init__(self, *_, **__):
        raise NotImplementedError(f"torch.nn.parallel.DistributedDataParallel: {_WHY}")
