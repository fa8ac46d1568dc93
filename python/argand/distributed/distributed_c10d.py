"""The names of torch.distributed where packages take them from inside it."""
from . import *  # noqa: F401,F403
from ._names import *  # noqa: F401,F403
from ._names import _broadcast_coalesced  # noqa: F401


def _get_default_group():
    """There is none."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
