"""torch._lowrank."""
from .._linear_algebra.low_rank import pca_lowrank, svd_lowrank  # noqa: F401
