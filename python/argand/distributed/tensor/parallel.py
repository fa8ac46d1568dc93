"""Tensor parallelism, as torch.distributed.tensor.parallel: only names."""
from .._names import _needs_a_group, _never_made

__path__ = []  # PyTorch has modules below it: see _named_modules.py

ParallelStyle = _never_made("tensor.parallel.ParallelStyle")
ColwiseParallel, RowwiseParallel, SequenceParallel, PrepareModuleInput, PrepareModuleOutput, PrepareModuleInputOutput = (
    _never_made("tensor.parallel." + name, ParallelStyle) for name in ("ColwiseParallel", "RowwiseParallel", "SequenceParallel", "PrepareModuleInput",
                                                  "PrepareModuleOutput", "PrepareModuleInputOutput"))
parallelize_module, loss_parallel = _needs_a_group("tensor.parallel.parallelize_module"), _needs_a_group("tensor.parallel.loss_parallel")
