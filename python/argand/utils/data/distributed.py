"""Samplers for training in several processes."""
import math

from ... import _C
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The indices for one of num_replicas processes: every num_replicas-th of a common (random) order, as many for each.

    Call set_epoch() before each epoch, or the order is the same.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            from ... import distributed
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        if drop_last and len(dataset) % num_replicas != 0:
            self.num_samples = math.ceil((len(dataset) - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        if self.shuffle:
            generator = _C.Generator().manual_seed(self.seed + self.epoch)
            indices = _C.randperm(len(self.dataset), generator=generator, device="cpu").tolist()
        else:
            indices = list(range(len(self.dataset)))
        if not self.drop_last and indices:  # the first ones again, until all have as many
            indices *= math.ceil(self.total_size / len(indices))
        return iter(indices[:self.total_size][self.rank::self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Makes the order that of this epoch."""
        self.epoch = epoch
