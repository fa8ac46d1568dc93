"""The Kullback-Leibler divergence of two distributions, for the pairs that have a formula."""
from . import kl_mixed, kl_multivariate, kl_same  # noqa: F401
from .kl_registry import _KL_REGISTRY, _dispatch_kl, kl_divergence, register_kl  # noqa: F401

__all__ = ["register_kl", "kl_divergence"]
