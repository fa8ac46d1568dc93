"""Samplers: the order in which indices of a data set are asked for."""
import itertools
from typing import Generic, TypeVar

from ... import _C
from ..._ignored import harmless

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Iterates over indices, or over lists of indices (batches): a subclass writes __iter__()."""

    @harmless(data_source="older versions of PyTorch take it, and read nothing of it")
    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


def place_of_draws(generator):
    """The device on which a generator draws; without one, the CPU."""
    return "cpu" if generator is None else generator.device


def random_seed(generator=None):
    """A seed drawn from the generator, by default the CPU's."""
    return int(_C.empty((), dtype=_C.int64, device=place_of_draws(generator)).random_(generator=generator).item())


def _check_num_samples(num_samples):
    if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def _in_tensors(self):
        yield _C.arange(len(self.data_source), device="cpu")

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order of all indices (as often as num_samples needs), or, with replacement, num_samples random indices."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_num_samples(self.num_samples)

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples  # the data set may grow

    def __iter__(self):
        for indices in self._in_tensors():
            yield from indices.tolist()

    def _in_tensors(self):
        """The indices in tensors, which are drawn when they are asked for."""
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = _C.Generator().manual_seed(random_seed())
        device = place_of_draws(generator)
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                yield _C.randint(0, n, (min(32, self.num_samples - start),), dtype=_C.int64, generator=generator, device=device)
            return
        for _ in range(self.num_samples // n):
            yield _C.randperm(n, generator=generator, device=device)
        yield _C.randperm(n, generator=generator, device=device)[:self.num_samples % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """A random order of some indices."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _C.randperm(len(self.indices), generator=self.generator, device=place_of_draws(self.generator)).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples indices with probabilities in proportion to the weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_num_samples(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        weights = _C.as_tensor(weights, dtype=_C.float64)
        if weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from _C.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Lists of batch_size indices of a sampler; the last may be shorter, or is left out."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def _in_tensors(self):
        """The same batches as tensors on the CPU, or None if the sampler gives indices in its own way."""
        if type(self) is not BatchSampler or type(self.sampler) not in (RandomSampler, SequentialSampler):
            return None
        return self._cut(self.sampler._in_tensors())

    def _cut(self, tensors):
        rest = _C.empty(0, dtype=_C.int64, device="cpu")
        for indices in tensors:
            indices = indices.cpu()
            rest = _C.cat([rest, indices]) if rest.numel() else indices
            whole = rest.numel() // self.batch_size * self.batch_size
            for start in range(0, whole, self.batch_size):
                yield rest.narrow(0, start, self.batch_size)
            rest = rest[whole:]
        if rest.numel() and not self.drop_last:
            yield rest

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size
