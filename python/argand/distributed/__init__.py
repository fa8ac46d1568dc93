"""Communication between processes, as torch.distributed: groups, collectives, stores, and launchers."""
import enum

from .. import _surface


class ReduceOp:
    """How a collective joins the processes' values."""

    def __new__(cls, op):
        """The operation itself: ReduceOp(ReduceOp.SUM) is ReduceOp.SUM."""
        return cls.RedOpType(op)

    RedOpType = enum.IntEnum("RedOpType", ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM", "UNUSED"], start=0)
    RedOpType.__str__ = enum.Enum.__str__  # "RedOpType.SUM", also in Python 3.11 and later
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


__getattr__, __dir__ = _surface.of(__name__)
