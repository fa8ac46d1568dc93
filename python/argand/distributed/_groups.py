"""Groups of processes: how they are made, and what can be asked about them."""
import atexit
import os
import warnings
from collections import Counter

from .. import _C
from .._ignored import harmless
from .._process_end import sleep_if_the_process_ends
from . import GroupMember, is_initialized
from ._group_calls import GroupCalls
from ._rendezvous import meet
from ._stores import PrefixStore
from ._work import Work, call_site, milliseconds
from .constants import default_pg_nccl_timeout, default_pg_timeout

__all__ = ["Backend", "ProcessGroup", "ProcessGroupGloo", "destroy_process_group", "get_backend", "get_backend_config", "get_global_rank",
           "get_group_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
           "is_backend_available", "is_gloo_available", "is_mpi_available", "is_nccl_available", "is_ucc_available",
           "is_xccl_available", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"]

_NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."
_DEVICES = ("cpu", "cuda")
_WHY_NO_OPTIONS = "the backends have no options of their own"
_WHY_NO_DEVICE = "a communicator is made at the first collective on a GPU, for that GPU"


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())


class ProcessGroup(GroupCalls):
    """Some of the processes of the world, in an order: a process's place in it is its rank."""

    def __init__(self, group, backend, description, timeout):
        self._group, self._backend, self._timeout = group, Backend(backend), timeout
        self.group_name, self.group_desc = group.name, description or "undefined"
        self.bound_device_id = None
        self._splits = 0  # that were made of it

    def rank(self):
        """The rank of this process."""
        return self._group.rank

    def size(self):
        """How many processes there are."""
        return self._group.size

    def name(self):
        """The backend's name."""
        return str(self._backend)

    @property
    def _store(self):
        return self._group.store

    def get_group_store(self):
        """A store for the members of the group."""
        return self._store

    def _get_backend_name(self):
        return str(self._backend)

    @property
    def _device_types(self):
        """The devices whose tensors it takes: any of them, through host memory if the backend is not for it."""
        return [_C.device(name) for name in _DEVICES]

    def shutdown(self):
        """Leaves: other ranks learn that this one was not lost."""
        self._group.shutdown()

    abort = shutdown

    def start(self, collective, *args, timeout=None):
        """Starts a collective of the C++ group; its Work.  timeout: a timedelta, or seconds; the group's if not given."""
        return Work(getattr(self._group, collective)(call_site(), milliseconds(timeout), *args))

    def __repr__(self):
        return f"<argand.distributed.ProcessGroup {self.group_name!r}: rank {self.rank()} of {self.size()}, {self._backend}>"


class ProcessGroupGloo(ProcessGroup):
    """A group by a store of the program's own, for rank `rank` of `size`: also for several ranks of one process, each in a thread."""

    def __init__(self, store, rank, size, timeout=default_pg_timeout):
        host, device = _check_backend(Backend.GLOO, size)
        super().__init__(_C._make_process_group(store, rank, size, host, device, milliseconds(timeout)), Backend.GLOO, None, timeout)


class _World:
    """All groups that this process is in: {group: (backend, store)}."""

    def __init__(self):
        self.pg_map, self.count = {}, 0
        self.worlds = 0  # that were joined, so that the next one finds none of their keys in a store that outlives them
        self.local = Counter()  # groups that only their members made, by their ranks

    @property
    def default_pg(self):
        return GroupMember.WORLD


_world = _World()
_pg_map = _world.pg_map


def _register(group, backend, description, timeout):
    made = ProcessGroup(group, backend, description, timeout)
    _world.count += 1
    _pg_map[made] = (made._backend, made._store)
    return made


def _get_default_group():
    """The group of all processes; ValueError before init_process_group()."""
    if GroupMember.WORLD is None:
        sleep_if_the_process_ends()
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


def member(who, group):
    """The same for collectives: None, with a warning, if this process is not in it."""
    found = _checked(group)
    if found is None:
        warnings.warn(f"Running {who} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3)
    return found


# ---- making and ending


def _backends_of(backend):
    """(of tensors in host memory, of those of GPUs or "") of "gloo", "cpu:gloo,cuda:nccl", ...; ValueError for a name that is none.

    Without one for the host it is "gloo", by which ranks also compare their calls.
    """
    for part in backend.lower().split(","):
        name = part.rpartition(":")[2]
        if name not in Backend.backend_list:
            raise ValueError(f"init_process_group: expected backend to be one of {Backend.backend_list[1:]}, got {name!r}")
    host, device = _C._backends_of(backend.lower())
    return (Backend.GLOO if host in ("", Backend.UNDEFINED) else host), device


def _check_backend(backend, world_size):
    """The same of backends that are here; a world of one process sends nothing, and needs none."""
    host, device = _backends_of(backend)
    if world_size == 1:
        return host, device
    if why := device and _C._why_no_backend(device):
        raise NotImplementedError(f"init_process_group: {why}; backend='gloo' takes tensors of GPUs, too, through host memory")
    if why := _C._why_no_backend(host):
        raise ValueError(f"init_process_group: {why}")
    return host, device


@harmless(pg_options=_WHY_NO_OPTIONS, group_name="a name that PyTorch does not use either", device_id=_WHY_NO_DEVICE,
          _ranks="all processes are in it")
def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None, _ranks=None, enable_reconfigure=False):
    """Joins the group of all processes, and waits for them.

    backend: "gloo" (the default); "mpi", for processes that mpirun started, which knows rank and world_size; "nccl", and
        "cpu:gloo,cuda:nccl", which is the same: tensors of GPUs by NCCL, others by Gloo.
    init_method: "env://" (the default: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE), "tcp://host:port", "file:///path".
    timeout: a timedelta: of joining, and of each collective; 30 minutes.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if enable_reconfigure:
        raise NotImplementedError("init_process_group: enable_reconfigure is not there: a world keeps its size")
    backend = Backend.UNDEFINED if backend is None else str(backend)
    _backends_of(backend)  # their spelling
    timeout = timeout or (default_pg_nccl_timeout if backend == Backend.NCCL else default_pg_timeout)
    if backend == Backend.MPI:
        return _init_by_launcher(backend, timeout, store, rank, world_size)
    if store is None:
        init_method = init_method or "env://"
        store, rank, world_size = meet(init_method, rank, world_size, timeout, lambda size: _check_backend(backend, size))
    elif world_size < 1 or rank < 0:
        raise AssertionError("world_size must be positive and rank non-negative if using store")
    host, device = _check_backend(backend, world_size)
    prefix = f"default_pg/{_world.worlds}"
    _world.worlds += 1
    group = _C._make_process_group(PrefixStore(prefix, store), rank, world_size, host, device, milliseconds(timeout))
    GroupMember.WORLD = _register(group, host if backend == Backend.UNDEFINED else backend, "default_pg", timeout)
    atexit.register(_leave)


def _is_started_for_another_backend():
    """Whether a launcher other than MPI's started this process as one of several: to MPI it would be alone."""
    by_mpi = any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"))
    return not by_mpi and "RANK" in os.environ and os.environ.get("WORLD_SIZE", "1") != "1"


def _init_by_launcher(backend, timeout, store, rank, world_size):
    """What mpirun started: it knows ranks and size, and its messages tell where rank 0's store is."""
    if _is_started_for_another_backend():
        raise ValueError("init_process_group: backend 'mpi' needs processes that mpirun started; this one is rank "
                         f"{os.environ['RANK']} of {os.environ['WORLD_SIZE']} of another launcher: use 'gloo'")
    if store is not None:
        raise ValueError("init_process_group: expected no store for backend 'mpi', which makes one")
    if why := _C._why_no_backend(backend):
        raise ValueError(f"init_process_group: {why}")
    group = _C._make_launched_process_group(backend, milliseconds(timeout))
    GroupMember.WORLD = _register(group, backend, "default_pg", timeout)
    atexit.register(_leave)
    for name, given, found in (("rank", rank, group.rank), ("world_size", world_size, group.size)):
        if given not in (-1, found):
            warnings.warn(f"init_process_group: {name}={given} is not used: MPI says {found}", stacklevel=3)


def _leave():
    """At the end of the process, so that the others know that it was not lost."""
    if GroupMember.WORLD is not None:
        destroy_process_group()


def destroy_process_group(group=None):
    """Ends a group; that of all ends all.  What is not finished in it fails, and other ranks learn that this one has left."""
    if _rank_not_in_group(group):
        return
    if group is None or group is GroupMember.WORLD:
        if GroupMember.WORLD is None:
            raise AssertionError("Process group cannot be None")
        ended, GroupMember.WORLD = list(_pg_map), None
        _pg_map.clear()
        _world.count = 0
        _world.local.clear()
        atexit.unregister(_leave)
        for each in reversed(ended):
            each._group.shutdown()
            each._group = _Destroyed(each._group)
    elif _pg_map.pop(group, None) is None:
        raise ValueError("Invalid process group specified")
    else:
        group._group.shutdown()


class _Destroyed:
    """What is known of a group that was destroyed."""

    def __init__(self, group):
        self.rank, self.size, self.name, self.world_ranks = group.rank, group.size, group.name, group.world_ranks

    def __getattr__(self, name):
        raise ValueError(_NO_GROUP)


@harmless(pg_options=_WHY_NO_OPTIONS, device_id=_WHY_NO_DEVICE)
def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
              sort_ranks=True):
    """A group of some of the processes; GroupMember.NON_GROUP_MEMBER where this one is not among them.

    All processes must call it, in the same order; only the group's own if use_local_synchronization.
    """
    default = _get_default_group()
    world = default.size()
    ranks = list(range(world)) if ranks is None else [int(rank) for rank in ranks]
    if len(ranks) > world:
        raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
    if any(not 0 <= rank < world for rank in ranks):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    backend = str(backend) if backend else default._backend
    host, device = _check_backend(backend, world)
    if host != _backends_of(default._backend)[0]:
        raise NotImplementedError(f"new_group: expected backend to be the world's, {default._backend!r}, got {backend!r}")
    if sort_ranks:
        ranks = sorted(ranks)
    if not ranks or (use_local_synchronization and default.rank() not in ranks):
        return GroupMember.NON_GROUP_MEMBER
    timeout = timeout or default._timeout
    name = _local_name(ranks) if use_local_synchronization else ""
    made = default._group.subgroup(call_site(), ranks, device, milliseconds(timeout), name)
    return GroupMember.NON_GROUP_MEMBER if made is None else _register(made, backend, group_desc, timeout)


def _local_name(ranks):
    """The name of a group that only its members make: their ranks, and how many such groups these made before."""
    members = ",".join(map(str, ranks))
    _world.local[members] += 1
    return f"local {members} {_world.local[members]}"


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of group_size processes each, one behind the other: that of this one, and all."""
    size = _checked_group(group).size()
    if group_size is None:
        from ._names import local_size
        group_size = local_size()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if group_size > size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size != 0:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    ranks = get_process_group_ranks(group)
    lists = [ranks[i:i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of these processes: that of this one, and all."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    subgroups, seen = [], {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
    mine = None
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        subgroups.append(made)
        if get_rank() in ranks:
            mine = made
    return mine, subgroups


@harmless(pg_options=_WHY_NO_OPTIONS)
def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, backend=None):
    """The group of those ranks of parent_pg among which this one is; GroupMember.NON_GROUP_MEMBER if it is in none.

    All ranks of parent_pg must call it, with the same split_ranks: lists of its ranks, each in the order of the new group.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = _checked(parent_pg)
    if parent is None:
        raise ValueError(f"Global rank {get_rank()} is not part of the parent group {parent_pg}")
    lists = [[int(rank) for rank in ranks] for ranks in split_ranks]
    for ranks in lists:
        if any(not 0 <= rank < parent.size() for rank in ranks):
            raise ValueError(f"split_group: expected ranks of the parent group, 0 to {parent.size() - 1}, got {ranks}")
        if len(set(ranks)) != len(ranks):
            raise ValueError("the split group cannot have duplicate ranks")
    if sum(map(len, lists)) != len(set().union(*lists)):
        raise ValueError(f"split_group: expected a rank to be in one list only, got {lists}")
    backend = parent._backend if backend is None else str(backend).lower()
    host, device = _backends_of(backend)
    if host != _backends_of(parent._backend)[0] or device not in ("", _backends_of(parent._backend)[1]):
        raise ValueError(f"split_group: expected backend to be one of the parent group's, {parent._backend!r}, got {backend!r}")
    desc = group_desc or f"{parent.group_desc}:split:{parent._splits}"
    parent._splits += 1
    timeout = timeout or parent._timeout
    made = [parent._group.subgroup(call_site(), ranks, device, milliseconds(timeout), "") for ranks in lists if ranks]
    mine = next((group for group in made if group is not None), None)
    return GroupMember.NON_GROUP_MEMBER if mine is None else _register(mine, backend, desc, timeout)


# ---- questions


def get_rank(group=None):
    """The number of this process in a group; -1 if it is not in it.  ValueError before init_process_group()."""
    found = _checked(group)
    return -1 if found is None else found.rank()


def get_world_size(group=None):
    """The number of processes of a group; -1 if this one is not in it.  ValueError before init_process_group()."""
    found = _checked(group)
    return -1 if found is None else found.size()


def get_backend(group=None):
    """The name of its backend."""
    found = _checked(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found._backend


def get_backend_config(group=None):
    """Its backend for each kind of device: "cpu:gloo,cuda:nccl"."""
    found = _checked_group(group)
    if ":" in found._backend:
        return str(found._backend)
    return ",".join(f"{device}:{Backend.GLOO if device == 'cpu' and found._backend == Backend.NCCL else found._backend}" for device in _DEVICES)


def _get_pg_default_device(group=None):
    """A device whose tensors the group takes without copies."""
    found = _checked_group(group)
    return _C.device("cuda" if found._backend == Backend.NCCL else "cpu")


def _resolve_process_group(group_name):
    """The group of a name."""
    for each in _pg_map:
        if each.group_name == group_name:
            return each
    raise LookupError(f"Could not resolve the process group registered under the name {group_name!r}")


def get_process_group_ranks(group):
    """The numbers of its processes in the world."""
    found = _checked(group)
    return [] if found is None else list(found._group.world_ranks)


def get_global_rank(group, group_rank):
    """The number in the world of a process of a group."""
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group, global_rank):
    """The number in a group of a process of the world."""
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


_get_global_rank = get_global_rank


def get_pg_count():
    """How many groups were made."""
    return _world.count


def is_gloo_available():
    """Whether libargand_gloo is there and can be loaded."""
    return not _C._why_no_backend("gloo")


def is_nccl_available():
    """Whether NCCL can be loaded and there is a GPU.  A world of one process, which sends nothing, takes the name all the same."""
    return not _C._why_no_backend("nccl")


def is_mpi_available():
    """Whether libargand_mpi can be loaded, and no launcher but MPI's started this process as one of several."""
    return not _is_started_for_another_backend() and not _C._why_no_backend("mpi")


def is_ucc_available():
    """False."""
    return False


is_xccl_available = is_ucc_available


def is_backend_available(backend):
    """Whether groups can have this backend."""
    return {"gloo": is_gloo_available, "nccl": is_nccl_available, "mpi": is_mpi_available}.get(backend.lower(), is_ucc_available)()
