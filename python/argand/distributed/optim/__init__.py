"""Distributed optimizers, as torch.distributed.optim: only names, for annotations and isinstance()."""
from ...optim import Optimizer
from .._names import _never_made

ZeroRedundancyOptimizer, PostLocalSGDOptimizer, DistributedOptimizer = (
    _never_made("optim." + name, Optimizer) for name in ("ZeroRedundancyOptimizer", "PostLocalSGDOptimizer", "DistributedOptimizer"))
