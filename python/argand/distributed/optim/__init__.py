"""Optimizers of several processes, as torch.distributed.optim: names, for annotations and isinstance()."""
from ...optim import Optimizer
from .. import _needs_a_group


def _never_stepped(name):
    return type(name, (Optimizer,), {"__init__": _needs_a_group("optim." + name), "__module__": __name__,
                                     "__doc__": "Making one raises NotImplementedError."})


ZeroRedundancyOptimizer, PostLocalSGDOptimizer, DistributedOptimizer = (
    _never_stepped(name) for name in ("ZeroRedundancyOptimizer", "PostLocalSGDOptimizer", "DistributedOptimizer"))
