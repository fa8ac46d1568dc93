"""Functions of torch that PyTorch implements in Python, as torch.functional."""
from ._C import (Tensor, atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_tensors, cartesian_prod, chain_matmul,  # noqa: F401
                 einsum, istft, meshgrid, stft)
from ._functions import broadcast_shapes, cdist, lu, norm, split, tensordot, unique, unique_consecutive, unravel_index
from ._linear_algebra.low_rank import pca_lowrank, svd_lowrank
from .nn import functional as F  # noqa: F401

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist",
           "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot",
           "unique", "unique_consecutive", "unravel_index"]
