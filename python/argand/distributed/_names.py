"""What few programs ask of torch.distributed; loaded for those."""
import enum
import os

from . import _needs_a_group


def _never_made(name, base=object):
    return type(name, (base,), {"__init__": _needs_a_group(name), "__module__": "argand.distributed",
                                "__doc__": "For annotations and isinstance(): making one raises NotImplementedError."})


for _name in ("Store", "TCPStore", "FileStore", "HashStore", "PrefixStore", "Work", "P2POp", "Reducer", "GradBucket"):
    globals()[_name] = _never_made(_name)
del _name

DeviceMesh = _never_made("DeviceMesh")


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
