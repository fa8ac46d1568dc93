"""Sharded models, as torch.distributed.fsdp: only names, for annotations and isinstance()."""
import enum

from ..._named_modules import names_of as _names_of
from ...nn import Module
from .._names import _needs_a_group, _never_made


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


FullyShardedDataParallel = _never_made("fsdp.FullyShardedDataParallel", Module)
for _name in ("flatten_sharded_optim_state_dict", "fsdp_modules", "full_optim_state_dict", "get_state_dict_type", "optim_state_dict",
              "optim_state_dict_to_load", "rekey_optim_state_dict", "scatter_full_optim_state_dict", "set_state_dict_type",
              "shard_full_optim_state_dict", "sharded_optim_state_dict", "state_dict_type", "summon_full_params"):
    setattr(FullyShardedDataParallel, _name, staticmethod(_needs_a_group("fsdp.FullyShardedDataParallel." + _name)))
del _name
FSDPModule, CPUOffload, MixedPrecision, MixedPrecisionPolicy, CPUOffloadPolicy, OffloadPolicy, FullStateDictConfig, \
    ShardedStateDictConfig, LocalStateDictConfig, FullOptimStateDictConfig, ShardedOptimStateDictConfig, StateDictConfig = (
        _never_made("fsdp." + name) for name in ("FSDPModule", "CPUOffload", "MixedPrecision", "MixedPrecisionPolicy", "CPUOffloadPolicy",
                                       "OffloadPolicy", "FullStateDictConfig", "ShardedStateDictConfig", "LocalStateDictConfig",
                                       "FullOptimStateDictConfig", "ShardedOptimStateDictConfig", "StateDictConfig"))
fully_shard, register_fsdp_forward_method = _needs_a_group("fsdp.fully_shard"), _needs_a_group("fsdp.register_fsdp_forward_method")


__getattr__ = _names_of(__name__)
