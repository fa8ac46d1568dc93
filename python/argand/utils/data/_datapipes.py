"""Classes of data pipes, for annotations and isinstance()."""
from ..._refused import refused, refused_class
from .dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "IterDataPipe", "MapDataPipe", "functional_datapipe"]

_WHY = "there are no data pipes; data sets and DataLoader do what they did"
DFIterDataPipe, IterDataPipe = (refused_class("torch.utils.data." + name, _WHY, IterableDataset) for name in (
    "DFIterDataPipe", "IterDataPipe"))
MapDataPipe = refused_class("torch.utils.data.MapDataPipe", _WHY, Dataset)
functional_datapipe = refused("torch.utils.data.functional_datapipe", _WHY)
