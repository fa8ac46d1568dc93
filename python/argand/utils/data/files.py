"""Data sets and tables in files; not in torch.utils.data."""
import os

from ... import _C
from .dataset import Dataset


class CIFAR(Dataset):
    """CIFAR-10 or, with 100 classes, CIFAR-100: (float32 image [3, 32, 32] in [0, 1], label as int64 tensor).

    `root`: a folder with the files of the binary version (data_batch_1.bin ..., or train.bin and test.bin).  `images` is
    uint8 [N, 3, 32, 32], `targets` int64 [N], `coarse_targets` those of CIFAR-100's 20 classes, else None.  `transform`
    is called with the image.  OSError for files that are missing or damaged; pickles of the version for Python are refused.
    """

    def __init__(self, root, classes=10, train=True, transform=None):
        self.images, self.targets, *coarse = _C._read_cifar(os.fsdecode(root), classes, train)
        self.coarse_targets = coarse[0] if coarse else None
        self.transform = transform

    def __getitem__(self, index):
        image = self.images[index].float() / 255
        return image if self.transform is None else self.transform(image), self.targets[index]

    def __len__(self):
        return len(self.targets)


def read_csv(path, dtype=None, columns=None, delimiter=",", header=True):
    """A table of numbers (RFC 4180, UTF-8) as a tensor [rows, columns] of float32, or of `dtype` float64.

    `columns`: names of those to read, in this order; all if not given.  OSError with line and column for what is no number
    or no table, ValueError for a column that is not there.
    """
    dtype = _C.float32 if dtype is None else dtype
    if dtype not in (_C.float32, _C.float64):
        raise TypeError(f"read_csv: expected float32 or float64, got {dtype}")
    return _C._read_csv(os.fsdecode(path), dtype == _C.float64, list(columns or ()), delimiter, header)


def read_text(path):
    """The whole file as str; OSError that names the byte of the first thing that is not UTF-8."""
    return _C._read_text(os.fsdecode(path))
