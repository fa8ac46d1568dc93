"""Communication between processes, as torch.distributed: groups, collectives, stores, and launchers."""
import enum

from .._later import names

_WHY = "it is not there yet; process groups, their collectives and DistributedDataParallel are"  # what is refused says so


class ReduceOp:
    """How a collective joins the processes' values."""

    RedOpType = enum.IntEnum("RedOpType", ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM", "UNUSED"], start=0)
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM, UNUSED = RedOpType


class GroupMember:
    """WORLD, the group of all processes, None until init_process_group(); and what stands for "not in this group"."""

    WORLD = None
    NON_GROUP_MEMBER = -100


group = GroupMember


def is_available():
    """True."""
    return True


def is_initialized():
    """Whether init_process_group() was called."""
    return GroupMember.WORLD is not None


def is_torchelastic_launched():
    """Whether torchrun started this process, which sets an environment variable."""
    import os
    return "TORCHELASTIC_RUN_ID" in os.environ


_late = names(__name__, f"{__package__}.distributed_c10d")


def __getattr__(name):  # what few programs ask: loaded for those
    if name in ("algorithms", "constants", "device_mesh", "distributed_c10d", "elastic", "fsdp", "launcher", "nn", "optim", "rpc", "tensor"):
        from importlib import import_module
        return import_module("." + name, __name__)
    return _late(name)
