"""Sharded tensors, as torch.distributed.tensor: only names, for annotations and isinstance(); no tensor is sharded."""
from ... import _surface


class Placement:
    """What a process has of a tensor."""

    def is_shard(self, dim=None):
        """Whether it is a slice."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        """Whether it is all of it."""
        return isinstance(self, Replicate)

    def is_partial(self):
        """Whether it is a summand."""
        return isinstance(self, Partial)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self), *vars(self).values()))


class Shard(Placement):
    """A slice along dim."""

    def __init__(self, dim):
        self.dim = dim

    def __repr__(self):
        return f"Shard(dim={self.dim})"


class _StridedShard(Placement):
    """A slice along dim of a tensor that was cut into split_factor parts before, along the same one; no Shard."""

    def __init__(self, dim, *, split_factor):
        self.dim, self.split_factor = dim, split_factor

    def __repr__(self):
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"


class Replicate(Placement):
    """All of it."""

    def __repr__(self):
        return "Replicate()"


class Partial(Placement):
    """A part of what reduce_op makes of all processes' values."""

    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def __repr__(self):
        return f"Partial({self.reduce_op})"


__getattr__, __dir__ = _surface.of(__name__)
