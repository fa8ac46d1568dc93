"""Algorithms between processes, as torch.distributed.algorithms."""
