"""Process groups and collectives under the module name from which packages import them."""
from .. import _surface
from . import (GroupMember, ReduceOp, _collectives, _group_calls, _groups, _names, _object_collectives,  # noqa: F401
               _rendezvous, _stores, group, is_available, is_initialized)
from . import is_torchelastic_launched  # noqa: F401
from ._collectives import *  # noqa: F401,F403
from ._group_calls import *  # noqa: F401,F403
from ._groups import *  # noqa: F401,F403
from ._groups import (_checked_group, _get_default_group, _get_default_store, _get_global_rank, _get_pg_default_device,  # noqa: F401
                      _pg_map, _rank_not_in_group, _resolve_process_group, _world)
from ._names import *  # noqa: F401,F403
from ._object_collectives import *  # noqa: F401,F403
from ._rendezvous import *  # noqa: F401,F403
from ._stores import *  # noqa: F401,F403
from .constants import default_pg_nccl_timeout, default_pg_timeout  # noqa: F401

__all__ = [*_collectives.__all__, *_group_calls.__all__, *_groups.__all__, *_names.__all__, *_object_collectives.__all__,
           *_rendezvous.__all__, *_stores.__all__]

__getattr__, __dir__ = _surface.of(__name__)
