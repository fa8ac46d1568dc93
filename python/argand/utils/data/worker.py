"""What runs in a loader's worker processes."""
import random
import signal

from ... import _C
from ..._failures import Failure
from ..._numpy_if_loaded import numpy_if_loaded
from ...random import manual_seed
from .gather import Gatherer

_worker_info = None


class WorkerInfo:
    """The process that code of a data set runs in: id, num_workers, seed, and its copy of the data set."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        return "WorkerInfo(" + ", ".join(f"{k}={v}" for k, v in self.__dict__.items()) + ")"


def get_worker_info():
    """The WorkerInfo in a worker process, None in the program's own."""
    return _worker_info


class End:
    """Stands for a batch when a worker's stream has ended."""


class Fetcher:
    """Makes batches of a data set; `at` is what is being asked for, for messages about errors."""

    def __init__(self, dataset, is_stream, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.iterator = iter(dataset) if is_stream else None
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.gatherer = Gatherer.of(dataset, collate_fn) if auto_collation else None
        self.ended = False
        self.at = None

    def fetch(self, index):
        """The batch of these indices, a list or a tensor (or the sample of this index); of a stream, the next one.  StopIteration at
        its end."""
        if self.gatherer is not None:
            batch = self.gatherer.gather(index)
            if batch is not None:
                return batch
            if isinstance(index, _C.Tensor):
                index = index.tolist()
        return self.collate_fn(self._next(index) if self.iterator is not None else self._of(index))

    def _of(self, index):
        self.at = index
        if not self.auto_collation:
            return self.dataset[index]
        if getattr(self.dataset, "__getitems__", None):
            return self.dataset.__getitems__(index)
        samples = []
        for i in index:
            self.at = i
            samples.append(self.dataset[i])
        self.at = index
        return samples

    def _next(self, index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return next(self.iterator)
        samples = []
        for _ in index:
            try:
                samples.append(next(self.iterator))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return samples


def _generate_state(base_seed, worker_id):
    """Four numbers for NumPy's generator in a worker."""
    from numpy.random import SeedSequence
    return SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


def seed_everything(seed, worker_id, base_seed):
    """The generators of Python, of this library and of NumPy, each worker's differently and every time the same."""
    random.seed(seed)
    manual_seed(seed)
    np = numpy_if_loaded()
    if np is not None:
        np.random.seed(_generate_state(base_seed, worker_id))


def run(channel, others, worker_id, num_workers, base_seed, dataset, fetcher_arguments, init_fn):
    """Answers (epoch, number, index) with (epoch, number, batch) until the program closes its end.

    `others`: ends of the program's that a fork has given to this process, which is to close them: as long as it holds
    them, another worker would not see the end of the program.
    """
    global _worker_info
    for other in others:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program gets it too, and closes its end
    _C.set_num_threads(1)
    seed = base_seed + worker_id
    seed_everything(seed, worker_id, base_seed)
    _worker_info = WorkerInfo(id=worker_id, num_workers=num_workers, seed=seed, dataset=dataset)
    where = f"in DataLoader worker process {worker_id}"
    failure = None
    try:
        if init_fn is not None:
            init_fn(worker_id)
    except Exception as error:
        failure = Failure(error, where)
    current, fetcher = None, None
    try:
        while True:
            epoch, number, index = channel.receive()
            if epoch != current:
                current, fetcher = epoch, None
            data = failure
            if data is None:
                try:
                    if fetcher is None:
                        fetcher = Fetcher(dataset, *fetcher_arguments)
                    data = fetcher.fetch(index)
                except StopIteration as error:
                    data = End() if fetcher is not None and fetcher.iterator is not None else Failure(error, where)
                except Exception as error:
                    at = fetcher.at if fetcher is not None else None
                    data = Failure(error, where if at is None else f"{where}, at index {at}")
            failure = None
            _answer(channel, epoch, number, data, where)
            del data
    except (EOFError, ConnectionError):
        pass  # the program is done with this worker, or is gone


def _answer(channel, epoch, number, data, where):
    try:
        channel.send((epoch, number, data))
    except OSError:
        raise EOFError from None
    except Exception as error:  # it cannot be pickled
        data = data.without_type() if isinstance(data, Failure) else Failure(error, where + ", which cannot send this batch")
        try:
            channel.send((epoch, number, data))
        except OSError:
            raise EOFError from None
