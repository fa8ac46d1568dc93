"""Samples in tar archives; not in torch.utils.data."""
import os

from ... import _C
from .dataset import IterableDataset
from .worker import get_worker_info


class TarShards(IterableDataset):
    """Samples of tar archives, as WebDataset writes them, read as data: nothing is unpacked.

    Members that follow each other and are called alike up to the first dot of their names' last part are one sample: a dict
    of bytes by what follows the dot, and "__key__", the part before it.  `window` > 0: the archives come in another order in
    each pass, and the next sample is drawn from so many; the order depends on `seed`, the pass and `window` alone.  Workers
    of a DataLoader share the archives out.

    `paths`: one path or several.  OSError for an archive that is missing or damaged, and for links, devices and names that
    lead out of it.  A DataLoader's state_dict() lets a pass go on.
    """

    def __init__(self, paths, window=0, seed=0):
        super().__init__()
        self.paths = [os.fsdecode(p) for p in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]
        self.window, self.seed, self.epoch = window, seed, 0
        self._reader(0, 1)  # what makes no sense is said here, not in a worker

    def _reader(self, reader, readers):
        return _C._TarShards(self.paths, self.window, self.seed, reader, readers)

    def set_epoch(self, epoch):
        """Sets which pass the next iteration is; without it, each is the first."""
        self.epoch = epoch

    def __iter__(self):
        info = get_worker_info()
        samples = self._reader(info.id, info.num_workers) if info else self._reader(0, 1)
        samples.start(self.epoch)
        while (sample := samples.next()) is not None:
            yield sample
