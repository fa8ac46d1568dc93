"""Data sets, samplers and loaders, as torch.utils.data."""
from .collate import default_collate, default_convert  # noqa: F401
from .dataloader import DataLoader  # noqa: F401
from .dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset,  # noqa: F401
                      TensorDataset, random_split)
from .distributed import DistributedSampler  # noqa: F401
from .sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,  # noqa: F401
                      WeightedRandomSampler)
from .files import CIFAR, read_csv, read_text  # noqa: F401
from .shards import TarShards  # noqa: F401
from .worker import get_worker_info  # noqa: F401
from . import _utils  # noqa: E402,F401
from ... import _surface  # noqa: E402

__getattr__, __dir__ = _surface.of(__name__)
