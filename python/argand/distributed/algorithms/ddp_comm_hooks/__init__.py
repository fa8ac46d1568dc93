"""Communication hooks that come with the library, as torch.distributed.algorithms.ddp_comm_hooks."""
import enum
from functools import partial

from . import default_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class DDPCommHookType(enum.Enum):
    """The hooks by name.  (A plain function would become a method of the class.)"""

    ALLREDUCE = partial(default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(default_hooks.bf16_compress_hook)


def register_ddp_comm_hook(comm_hook_type, model, state=None):
    """model.register_comm_hook() of one of them."""
    model.register_comm_hook(state, comm_hook_type.value)
