"""What programs import from torch.distributed for the case that they run as several processes.

Processes cannot be joined yet: is_available() says so, and so does each function that needs a group when it is called.
nn.DataParallel uses all GPUs of one process.
"""
import enum


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


class ProcessGroup:
    """Processes that work together.  There are none: for annotations and isinstance()."""

    def __init__(self, *_, **__):
        raise _unavailable("torch.distributed.ProcessGroup")


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
    """-1: this process is in no group."""
    return -1


def get_world_size(group=None):
    """-1: this process is in no group."""
    return -1


def _unavailable(name):
    return NotImplementedError(f"{name}: processes cannot be joined yet; nn.DataParallel uses all GPUs of one process")


def _needs_a_group(name):
    def call(*_, **__):
        raise _unavailable(f"torch.distributed.{name}")
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Needs a process group: raises NotImplementedError."
    return call


for _name in ("init_process_group", "destroy_process_group", "new_group", "get_backend", "barrier", "monitored_barrier", "all_reduce",
              "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter",
              "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "send", "recv", "isend", "irecv", "all_gather_object",
              "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list", "recv_object_list",
              "batch_isend_irecv", "new_subgroups", "new_subgroups_by_enumeration", "split_group", "get_process_group_ranks",
              "get_global_rank", "get_group_rank", "get_pg_count", "all_gather_coalesced", "all_reduce_coalesced", "rendezvous",
              "init_device_mesh", "breakpoint", "_all_gather_base", "_reduce_scatter_base", "_broadcast_coalesced"):
    globals()[_name] = _needs_a_group(_name)
del _name


def __getattr__(name):  # what few programs ask: loaded for those
    from importlib import import_module
    if name in ("algorithms", "device_mesh", "distributed_c10d", "fsdp", "nn", "optim", "rpc", "tensor"):
        return import_module("." + name, __name__)
    if not name.startswith("__"):
        later = import_module("._names", __name__)
        if hasattr(later, name):
            return getattr(later, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
