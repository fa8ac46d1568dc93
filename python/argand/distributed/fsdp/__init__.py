"""Sharded models, as torch.distributed.fsdp: only names, for annotations and isinstance()."""
import enum

from ... import _surface


class ShardingStrategy(enum.Enum):
    """What would be in parts."""
    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When parameters would be fetched for the backward pass."""
    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


class StateDictType(enum.Enum):
    """What state_dict() would hold."""
    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


__getattr__, __dir__ = _surface.of(__name__)
