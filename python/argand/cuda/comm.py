"""torch.nn.parallel.comm under its older name."""
from ..nn.parallel.comm import broadcast, broadcast_coalesced, gather, reduce_add, reduce_add_coalesced, scatter  # noqa: F401
