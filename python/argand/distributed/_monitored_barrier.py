"""The barrier through the store of a group, which says who is missing."""
from datetime import timedelta

from .. import _C
from ._work import milliseconds


def monitored_barrier(group, timeout, wait_all_ranks):
    """torch.distributed.monitored_barrier() of a group that this process is in."""
    time = milliseconds(timeout or group._timeout)
    store, limit = group._store, timedelta(milliseconds=time)
    round_ = store.add(f"monitored_barrier/count/{group.rank()}", 1)
    key = f"monitored_barrier/{round_}"
    if group.rank() != 0:
        store.set(f"{key}/{group.rank()}", "1")
        try:
            store.wait([f"{key}/done"], limit)
        except _C.DistStoreError:
            raise RuntimeError(f"[Rank {group.rank()}]: Rank 0 failed to pass monitoredBarrier in {time} ms") from None
        return
    missing = []
    for rank in range(1, group.size()):
        try:
            store.wait([f"{key}/{rank}"], limit)
        except _C.DistStoreError:
            missing.append(rank)
            limit = timedelta(milliseconds=1)  # the others have had their time
            if not wait_all_ranks:
                break
    if missing:
        names = "Rank " + str(missing[0]) if len(missing) == 1 else "Ranks " + ", ".join(map(str, missing))
        raise RuntimeError(f"[Rank 0]: {names} failed to pass monitoredBarrier in {time} ms")
    store.set(f"{key}/done", "1")
