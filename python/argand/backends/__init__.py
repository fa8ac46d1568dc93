"""Switches of the libraries underneath, as torch.backends."""
from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum  # noqa: F401
