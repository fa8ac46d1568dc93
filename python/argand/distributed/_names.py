"""Rarely used names of torch.distributed, loaded at first use."""
import enum
import os

from . import ReduceOp
from ._hooks import GradBucket
from .constants import default_pg_timeout

__all__ = ["BuiltinCommHookType", "DebugLevel", "GradBucket", "default_pg_timeout", "get_debug_level", "get_default_backend_for_device",
           "get_node_local_rank", "supports_complex"]


class BuiltinCommHookType(enum.Enum):
    """The communication hooks that are known by name."""

    ALLREDUCE = 0
    FP16_COMPRESS = 1


class DebugLevel(enum.Enum):
    """How much is checked between processes."""

    OFF = 0
    INFO = 1
    DETAIL = 2


def get_debug_level():
    """OFF."""
    return DebugLevel.OFF


def get_default_backend_for_device(device):
    """"nccl" for GPUs, "gloo" for the CPU."""
    return "nccl" if str(getattr(device, "type", device)).startswith("cuda") else "gloo"


def supports_complex(reduceOp):
    """Whether collectives take complex tensors with this operation: those that add."""
    return getattr(reduceOp, "op", reduceOp) in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM)


def local_size():
    """How many processes of the world run on this host: what torchrun or MPI says, else one for each GPU."""
    for name in ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"):
        if name in os.environ:
            return int(os.environ[name])
    from .. import _C
    return max(1, _C.cuda.device_count())


def get_node_local_rank(fallback_rank=None):
    """LOCAL_RANK of the environment, which torchrun sets."""
    if "LOCAL_RANK" in os.environ:
        # harmless(fallback_rank): the environment has a rank
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
                           "assuming you are not running in a multi-device context and want the code to run locally instead.")
    return int(fallback_rank)
