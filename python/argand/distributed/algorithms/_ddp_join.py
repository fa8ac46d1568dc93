"""DistributedDataParallel in a process that has no batches left."""
from .join import JoinHook


class DDPJoinHook(JoinHook):
    """A process without batches: its part in what the others' forwards and backwards send."""

    def __init__(self, ddp, by_all):
        self.ddp, self.by_all = ddp, by_all

    def main_hook(self):
        ddp = self.ddp
        if ddp._reducer is None:
            return
        join = ddp._join_config
        ddp._set_divisor(join)
        ddp._sync_buffers_before(join.active[-1], join.synced)
        if join.synced:
            ddp._reducer.shadow()

    def post_hook(self, is_last_joiner):
        ddp = self.ddp
        if ddp._reducer is not None:
            ddp._copy_from(ddp._join_config.last_rank(is_last_joiner), [*ddp._states()])
            ddp._reducer.set_divisor(ddp.process_group.size())
