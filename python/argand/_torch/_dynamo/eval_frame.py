"""The type of compiled modules."""
from ..._compiling.models import OptimizedModule  # noqa: F401


def is_dynamo_supported():
    """False: there is no compiler."""
    return False
