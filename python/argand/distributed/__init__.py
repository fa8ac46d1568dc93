"""What programs import from torch.distributed for the case that they run as several processes.

Processes cannot be joined yet: is_available() says so, and so does each function that needs a group when it is called.
nn.DataParallel uses all GPUs of one process.
"""
import enum

from .._later import names

_WHY = "processes cannot be joined yet; nn.DataParallel uses all GPUs of one process"  # what needs a group says, in _names


_NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."


class ReduceOp(enum.Enum):
    """How a collective joins the processes' values."""

    SUM = 0
    PRODUCT = 1
    MIN = 2
    MAX = 3
    BAND = 4
    BOR = 5
    BXOR = 6
    AVG = 7


class GroupMember:
    """The group of all processes, which there is not, and what stands for "not in this group"."""

    WORLD = None
    NON_GROUP_MEMBER = object()


group = GroupMember


def is_available():
    """False: there are no process groups yet."""
    return False


def is_initialized():
    """False: there is no process group."""
    return False


def is_nccl_available():
    """False: see is_available()."""
    return False


is_gloo_available = is_mpi_available = is_ucc_available = is_nccl_available


def is_torchelastic_launched():
    """Whether torchrun started this process, which sets an environment variable."""
    import os
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group=None):
    """ValueError: there is no process group."""
    raise ValueError(_NO_GROUP)


def get_world_size(group=None):
    """ValueError: there is no process group."""
    raise ValueError(_NO_GROUP)


_late = names(__name__, f"{__package__}._names")


def __getattr__(name):  # what few programs ask: loaded for those
    if name in ("algorithms", "device_mesh", "distributed_c10d", "fsdp", "nn", "optim", "rpc", "tensor"):
        from importlib import import_module
        return import_module("." + name, __name__)
    return _late(name)
