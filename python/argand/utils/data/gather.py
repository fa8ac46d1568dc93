"""Batches of data sets that are tensors: the rows of a batch by one call for each tensor, instead of one for each sample."""
from ... import _C
from .collate import default_collate
from .dataset import Subset, TensorDataset


class Gatherer:
    """Makes batches of a TensorDataset, or of a Subset of one, as default_collate makes them of its samples."""

    def __init__(self, dataset):
        self._rows = None  # of the data set, for the indices of the subset
        if type(dataset) is Subset:
            dataset, self._rows = dataset.dataset, _C.tensor(list(dataset.indices), dtype=_C.int64, device="cpu")
        self._dataset = dataset

    @staticmethod
    def suits(dataset, collate_fn):
        """Whether a loader of this data set may use one."""
        tensors = dataset.dataset if type(dataset) is Subset else dataset
        return type(tensors) is TensorDataset and collate_fn is default_collate

    @staticmethod
    def of(dataset, collate_fn):
        """A Gatherer, or None if samples of this data set have to be asked for one by one."""
        if not Gatherer.suits(dataset, collate_fn) or (type(dataset) is Subset and not _are_ints(dataset.indices)):
            return None
        return Gatherer(dataset)

    def gather(self, index):
        """The batch of these indices, a tensor of int64 or any other sequence that a sampler gives; None if only the samples can tell
        what the batch is, or what is wrong."""
        tensors = self._dataset.tensors
        if not all(type(t) is _C.Tensor and not (t.requires_grad and _C.is_grad_enabled()) for t in tensors):
            return None
        if not isinstance(index, _C.Tensor):
            if not _are_ints(index):
                return None
            index = _C.tensor(list(index), dtype=_C.int64, device="cpu")
        try:
            if self._rows is not None:
                index = self._rows.index_select(0, index)
            if any(not t.is_cpu for t in tensors) and not (index.min() >= 0 and index.max() < tensors[0].size(0)):
                return None  # a device would find it out later
            return [t.index_select(0, index if t.is_cpu else index.to(t.device)) for t in tensors]
        except IndexError:
            return None


def _are_ints(indices):
    return isinstance(indices, (list, tuple)) and all(type(i) is int for i in indices)
