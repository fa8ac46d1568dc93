"""torch._lobpcg."""
from .._linear_algebra.eigenvalues import lobpcg  # noqa: F401
