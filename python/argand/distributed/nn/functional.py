"""See torch.distributed.nn."""
from .. import ReduceOp, group  # noqa: F401
from .._names import _needs_a_group

for _name in ("all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter",
              "_all_gather_base"):
    globals()[_name] = _needs_a_group("nn." + _name)
del _name
