"""What few programs ask of torch.distributed; loaded for those."""
import enum
import os

from .._ignored import harmless
from .._refused import refused, refused_class
from . import _WHY

__all__ = ["DeviceMesh", "DistError", "DistBackendError", "DistNetworkError", "DistStoreError", "Backend", "DebugLevel",
           "get_debug_level", "is_backend_available", "is_xccl_available", "get_default_backend_for_device", "get_node_local_rank"]


def _needs_a_group(name):
    return refused("torch.distributed." + name, _WHY)


def _never_made(name, base=object):
    return refused_class("torch.distributed." + name, _WHY, base)


for _name in ("init_process_group", "destroy_process_group", "new_group", "get_backend", "barrier", "monitored_barrier", "all_reduce",
              "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter", "reduce_scatter_tensor",
              "all_to_all", "all_to_all_single", "send", "recv", "isend", "irecv", "all_gather_object", "gather_object",
              "broadcast_object_list", "scatter_object_list", "send_object_list", "recv_object_list", "batch_isend_irecv", "new_subgroups",
              "new_subgroups_by_enumeration", "split_group", "get_process_group_ranks", "get_global_rank", "get_group_rank", "get_pg_count",
              "all_gather_coalesced", "all_reduce_coalesced", "rendezvous", "init_device_mesh", "breakpoint", "_all_gather_base",
              "_reduce_scatter_base", "_broadcast_coalesced"):
    globals()[_name] = _needs_a_group(_name)
    __all__.append(_name)
for _name in ("ProcessGroup", "Store", "TCPStore", "FileStore", "HashStore", "PrefixStore", "Work", "P2POp", "Reducer", "GradBucket"):
    globals()[_name] = _never_made(_name)
    __all__.append(_name)
del _name

DeviceMesh = _never_made("device_mesh.DeviceMesh")


class DistError(RuntimeError):
    """The base of what goes wrong between processes."""


class DistBackendError(DistError):
    """What a backend raises."""


class DistNetworkError(DistError):
    """What a connection raises."""


class DistStoreError(DistError):
    """What a store raises."""


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())


class DebugLevel(enum.Enum):
    """How much is checked between processes."""

    OFF = 0
    INFO = 1
    DETAIL = 2


def get_debug_level():
    """OFF."""
    return DebugLevel.OFF


@harmless(backend="there are no backends of any name")
def is_backend_available(backend):
    """False: see is_available()."""
    return False


def is_xccl_available():
    """False: see is_available()."""
    return False


def get_default_backend_for_device(device):
    """"nccl" for GPUs, "gloo" for the CPU."""
    return "nccl" if str(getattr(device, "type", device)).startswith("cuda") else "gloo"


def get_node_local_rank(fallback_rank=None):
    """LOCAL_RANK of the environment, which torchrun sets."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
                           "assuming you are not running in a multi-device context and want the code to run locally instead.")
    return int(fallback_rank)
