"""The group of one process: how it is made and what it says of itself."""
import os
from urllib.parse import urlparse

from .. import _C
from .._ignored import harmless
from . import _WHY, GroupMember, is_initialized
from ._stores import HashStore

_WHY_HARMLESS = "one process sends nothing and waits for nobody"

__all__ = ["Backend", "ProcessGroup", "destroy_process_group", "get_backend", "get_global_rank",
           "get_group_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
           "is_backend_available", "is_gloo_available", "is_mpi_available", "is_nccl_available", "is_ucc_available",
           "is_xccl_available", "new_group", "new_subgroups", "new_subgroups_by_enumeration"]

_NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Processes by their numbers in the world: of this one, or none."""

    @harmless(name="one process sends nothing and waits for nobody", description="one process sends nothing and waits for nobody")
    def __init__(self, store=None, rank=0, size=1, *, backend="gloo", name="0", description="undefined"):
        self.group_name, self.group_desc, self._backend, self._store = name, description, Backend(backend), store or HashStore()
        self._rank, self._size = rank, size

    def rank(self):
        """0."""
        return self._rank

    def size(self):
        """1."""
        return self._size

    def name(self):
        """The backend's name."""
        return str(self._backend)


class _World:
    """All groups that there are: {group: (backend, store)}."""

    def __init__(self):
        self.pg_map, self.count = {}, 0

    @property
    def default_pg(self):
        return GroupMember.WORLD


_world = _World()
_pg_map = _world.pg_map


def _register(backend, store, description):
    made = ProcessGroup(store, backend=backend, name=str(_world.count), description=description or "undefined")
    _world.count += 1
    _pg_map[made] = (made._backend, store)
    return made


def _get_default_group():
    """The group of all processes; ValueError before init_process_group()."""
    if GroupMember.WORLD is None:
        raise ValueError(_NO_GROUP)
    return GroupMember.WORLD


def _get_default_store():
    return _get_default_group()._store


def _rank_not_in_group(group):
    """Whether this process is not in a group; None is that of all."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _checked(group):
    """The group, that of all for None; None if this process is not in it."""
    default = _get_default_group()
    if group is None:
        return default
    if _rank_not_in_group(group):
        return None
    if group not in _pg_map:
        raise ValueError("Invalid process group specified")
    return group


def _checked_group(group):
    """The group, that of all for None; ValueError if this process is not in it."""
    found = _checked(group)
    if found is None:
        raise ValueError("Invalid process group specified or process is not in the group")
    return found


# ---- making and ending


def _environment(name):
    if name not in os.environ:
        raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set")
    return os.environ[name]


def _rank_and_size(init_method, rank, world_size):
    """What the arguments, or the environment, say of this process."""
    where = urlparse(init_method)
    if where.scheme == "env":
        rank = int(_environment("RANK")) if rank == -1 else rank
        world_size = int(_environment("WORLD_SIZE")) if world_size == -1 else world_size
        _environment("MASTER_ADDR"), int(_environment("MASTER_PORT"))
    elif where.scheme not in ("file", "tcp"):
        raise RuntimeError(f"No rendezvous handler for {where.scheme}://")
    else:
        query = dict(part.split("=") for part in where.query.split("&") if part)
        rank, world_size = int(query.get("rank", rank)), int(query.get("world_size", world_size))
        for name, value in (("rank", rank), ("world size", world_size)):
            if value == -1:
                raise ValueError(f"Error initializing torch.distributed using {where.scheme}:// rendezvous: {name} parameter missing")
    return rank, world_size


def _check_backend(backend):
    for part in backend.lower().split(","):
        name = part.rpartition(":")[2]
        if name not in Backend.backend_list:
            raise ValueError(f"init_process_group: expected backend to be one of {Backend.backend_list[1:]}, got {name!r}")
        if not is_backend_available(name) and name != Backend.UNDEFINED:
            why = "there is no GPU" if name == Backend.NCCL else "it is not a part of this library"
            raise ValueError(f"init_process_group: backend {name!r} is not available: {why}")


@harmless(timeout=_WHY_HARMLESS, group_name=_WHY_HARMLESS, pg_options=_WHY_HARMLESS, device_id=_WHY_HARMLESS, _ranks=_WHY_HARMLESS,
          enable_reconfigure=_WHY_HARMLESS)
def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None, _ranks=None, enable_reconfigure=False):
    """Makes the group of all processes, of which there is one: what RANK and WORLD_SIZE of the environment say, or the arguments.

    NotImplementedError if they say several.  backend, timeout and pg_options are checked and kept: nothing is sent.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    backend = Backend.UNDEFINED if backend is None else str(backend)
    _check_backend(backend)
    if store is None:
        rank, world_size = _rank_and_size(init_method or "env://", rank, world_size)
    elif world_size < 1 or rank < 0:
        raise AssertionError("world_size must be positive and rank non-negative if using store")
    if world_size != 1:
        raise NotImplementedError(f"torch.distributed.init_process_group: expected world_size to be 1, got {world_size}: {_WHY}")
    if rank != 0:
        raise ValueError(f"init_process_group: expected rank to be 0 in a world of one process, got {rank}")
    GroupMember.WORLD = _register(backend, store or HashStore(), "default_pg")


def destroy_process_group(group=None):
    """Ends a group; that of all ends all."""
    if _rank_not_in_group(group):
        return
    if group is None or group is GroupMember.WORLD:
        if GroupMember.WORLD is None:
            raise AssertionError("Process group cannot be None")
        GroupMember.WORLD = None
        _pg_map.clear()
    elif _pg_map.pop(group, None) is None:
        raise ValueError("Invalid process group specified")


@harmless(timeout=_WHY_HARMLESS, pg_options=_WHY_HARMLESS, use_local_synchronization=_WHY_HARMLESS, device_id=_WHY_HARMLESS,
          sort_ranks=_WHY_HARMLESS)
def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
              sort_ranks=True):
    """Another group, of some of the processes."""
    default = _get_default_group()
    ranks = [0] if ranks is None else list(ranks)
    if len(ranks) > 1:
        raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
    if any(rank != 0 for rank in ranks):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if backend is not None:
        _check_backend(str(backend))
    if not ranks:
        return GroupMember.NON_GROUP_MEMBER
    return _register(str(backend) if backend else default._backend, default._store, group_desc)


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of group_size processes each: that of this one, and all."""
    _checked(group)
    group_size = 1 if group_size is None else group_size
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if group_size > 1:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size (1)")
    made = new_group([0], timeout, backend, pg_options, group_desc=group_desc)
    return made, [made]


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of these processes: that of this one, and all."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    made = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    mine = [g for g in made if not _rank_not_in_group(g)]
    if len(mine) > 1:
        raise ValueError("Rank 0 has appeared in both subgroup [0] and [0]")
    return mine[0] if mine else None, made


# ---- questions


def get_rank(group=None):
    """The number of this process in a group, 0; -1 if it is not in it.  ValueError before init_process_group()."""
    return -1 if _checked(group) is None else 0


def get_world_size(group=None):
    """The number of processes of a group, 1; -1 if this one is not in it.  ValueError before init_process_group()."""
    return -1 if _checked(group) is None else 1


def get_backend(group=None):
    """The name of its backend."""
    found = _checked(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found._backend


def get_process_group_ranks(group):
    """The numbers of its processes in the world."""
    return [] if _checked(group) is None else [0]


def get_global_rank(group, group_rank):
    """The number in the world of a process of a group."""
    if _checked(group) is None or group_rank != 0:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return 0


def get_group_rank(group, global_rank):
    """The number in a group of a process of the world."""
    if _checked(group) is None or global_rank != 0:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return 0


_get_global_rank = get_global_rank


def get_pg_count():
    """How many groups were made."""
    return _world.count


def is_gloo_available():
    """True: a group of one process needs nothing."""
    return True


def is_nccl_available():
    """Whether there is a GPU: a group of one process needs nothing else."""
    return _C.cuda.is_available()


def is_mpi_available():
    """False."""
    return False


is_ucc_available = is_xccl_available = is_mpi_available


def is_backend_available(backend):
    """Whether groups can have this backend."""
    return {"gloo": is_gloo_available, "nccl": is_nccl_available}.get(backend.lower(), is_mpi_available)()
