"""The type of compiled modules."""
from .._compile import OptimizedModule  # noqa: F401


def is_dynamo_supported():
    """False: there is no compiler."""
    return False
