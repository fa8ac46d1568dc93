"""DataLoader: batches of a data set, made in this process or by worker processes."""
import collections
import copy
import itertools
import math
import multiprocessing
import os
import signal
import time
import typing
import warnings
import weakref
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from ... import _C
from ..._per_rank import PerRank
from ..._process_end import sleep_if_the_process_ends
from ...random import get_rng_state, set_rng_state
from . import worker
from .channel import Channel, Unreadable
from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset  # noqa: F401 -- for those who look here
from .gather import Gatherer
from .pin_memory import pin_memory as pinned
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, random_seed
from .worker import get_worker_info  # noqa: F401

T_co = TypeVar("T_co", covariant=True)
_SECONDS_BETWEEN_LOOKS = 5.0  # at whether silent workers are alive
_SECONDS_TO_END = 5.0  # that workers have when they are no longer needed, before they are made to


_collate_fn_t = typing.Callable[[typing.List[typing.Any]], typing.Any]  # for annotations

class _DatasetKind:
    """What a data set is to a loader, as its _dataset_kind."""
    Map = 0
    Iterable = 1


class _Forever(Sampler):
    """Asks a stream for samples without end."""

    def __iter__(self):
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Iterates over batches of a data set.

    num_workers=0 makes them in this process, otherwise that many processes do, prefetch_factor (2) batches ahead each; the
    order is the same.  Batches are made by collate_fn of lists of samples (default_collate), or with batch_size=None are
    samples (default_convert).
    """
    __initialized = False

    def __init__(self, dataset: "Dataset[T_co]", batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None,
                 generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                             "multiprocessing, otherwise set prefetch_factor to None.")
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        elif prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        _warn_of_many(num_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._is_stream = isinstance(dataset, IterableDataset)
        if self._is_stream:
            if shuffle:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                                 f"shuffle={shuffle}")
            for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                                     f"{name}={value}")
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._is_stream:
                sampler = _Forever()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called = None  # what len() of the loader was told of a stream
        self.__initialized = True
        self._iterator = None
        self._position = None  # in the pass that was begun last, until it ends: batches given out, generators before it
        self._resumed = None   # where the next pass begins
        if pin_memory and pin_memory_device:
            warnings.warn("pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
                          f"pin_memory_device={pin_memory_device!r}.", stacklevel=2)
        if pin_memory and not _C.cuda.is_available():
            warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                          "used.", stacklevel=2)

    def __setattr__(self, name, value):
        if self.__initialized and name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
                                           "persistent_workers"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        """The context that makes workers: None for fork, where there is one and the program has chosen nothing else."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                                 f"got num_workers={self.num_workers}")
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError("multiprocessing_context option should specify a valid start method in "
                                     f"{methods!r}, but got multiprocessing_context={context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                                f"start method, but got multiprocessing_context={context}")
        self._context = context

    @property
    def _dataset_kind(self):
        return _DatasetKind.Iterable if self._is_stream else _DatasetKind.Map

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None or self._iterator.is_shut:
            self._iterator = self._get_iterator()
        else:
            self._iterator.begin(self)
        return self._iterator

    def state_dict(self):
        """The position of the pass that was begun last, for load_state_dict(), here or in another process of the same rank."""
        at = self._resumed or self._position or {"batches": 0, "generators": _generator_states(self)}
        return PerRank(copy.deepcopy(at), **{"epoch": sampler.epoch for sampler in _with_epochs(self)})

    def load_state_dict(self, state_dict):
        """Lets the next pass go on where the one of state_dict() was: the same order, behind the last batch given out.

        The data set of one process is not asked for the batches before.  Workers, and streams, make them again, so that
        random numbers they draw are the same.  A sampler may draw from the default generator when it begins, and not later.
        """
        generators = _generators(self)
        if not {"batches", "generators"} <= state_dict.keys() or state_dict["generators"].keys() != generators.keys() or (
                "epoch" in state_dict and not _with_epochs(self)):
            raise ValueError(f"load_state_dict: this is no state of this DataLoader: {state_dict!r:.200}")
        self._resumed, self._position = None, None
        for sampler in _with_epochs(self) if "epoch" in state_dict else ():
            sampler.set_epoch(state_dict["epoch"])
        if "default" in state_dict:
            self._resumed = copy.deepcopy(dict(state_dict))
        else:  # between two passes
            for name, generator in generators.items():
                generator.set_state(state_dict["generators"][name].cpu())

    def __len__(self):
        if self._is_stream:
            length = self._IterableDataset_len_called = len(self.dataset)  # a pass that begins later is held to it
            if self.batch_size is None:
                return length
            return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return len(self._index_sampler)


# What iterators ask of a loader; fastai gives them one of its own.


def _is_stream(loader):
    return loader._dataset_kind == _DatasetKind.Iterable


def _generators(loader):
    """Generators that a pass draws from, by name, without those that are the default one."""
    found = {"loader": loader.generator, "sampler": getattr(getattr(loader, "sampler", None), "generator", None)}
    return {name: g for name, g in found.items() if isinstance(g, _C.Generator)}


def _with_epochs(loader):
    """The sampler whose order is that of an epoch, as a DistributedSampler's is, in a list; that of batches has one inside, maybe."""
    samplers = loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)
    return [each for each in samplers if hasattr(each, "set_epoch") and isinstance(getattr(each, "epoch", None), int)][:1]


def _generator_states(loader):
    return {name: g.get_state() for name, g in _generators(loader).items()}


class _BaseDataLoaderIter:
    """The iterator of one pass over the data.  It draws from the generator what PyTorch draws, in the same order."""

    def __init__(self, loader):
        # No reference to the loader, which refers to its iterator if workers persist: without a cycle, workers end with the last name.
        self._dataset, self._num_workers, self._index_sampler = loader.dataset, loader.num_workers, loader._index_sampler
        self._pins = loader.pin_memory and _C.cuda.is_available()
        self._begin(loader)
        self._fetcher_arguments = (_is_stream(loader), loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _begin(self, loader):
        resumed, loader._resumed = getattr(loader, "_resumed", None), None
        now = get_rng_state()
        if resumed is not None:
            set_rng_state(resumed["default"].cpu())  # map_location may have put it on a GPU
            for name, generator in _generators(loader).items():
                generator.set_state(resumed["generators"][name].cpu())
        self._position = {"batches": 0, "default": get_rng_state(), "generators": _generator_states(loader)}
        loader._position = self._position
        self._loader = weakref.ref(loader)
        self._indices = self._iterate_indices(loader)
        self._base_seed = random_seed(loader.generator)
        self._told_length = getattr(loader, "_IterableDataset_len_called", None)
        self._yielded = 0
        self._to_skip = 0
        if resumed is not None:
            if loader.num_workers or _is_stream(loader):
                self._to_skip = resumed["batches"]
            else:
                self._yielded = self._position["batches"] = resumed["batches"]
                collections.deque(itertools.islice(self._indices, resumed["batches"]), maxlen=0)
            # A sampler draws its order when it is asked first, which may be later than this.
            first = next(self._indices, None)
            self._indices = itertools.chain([] if first is None else [first], self._indices)
            set_rng_state(now)

    def _iterate_indices(self, loader):
        return iter(self._index_sampler)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        try:
            while self._to_skip:
                self._skip()
            data = self._profiled_next() if _C._profiler_is_active() else self._next()
        except StopIteration:
            loader = self._loader()
            if loader is not None and loader._position is self._position:
                loader._position = None  # the next pass is a new one
            raise
        except BaseException:
            sleep_if_the_process_ends()
            raise
        self._yielded += 1
        self._position["batches"] += 1
        if self._told_length is not None and self._yielded > self._told_length:
            warnings.warn(f"Length of IterableDataset {self._dataset} was reported to be {self._told_length} (when accessing "
                          f"len(dataloader)), but {self._yielded} samples have been fetched. " + (
                              "For multiprocessing data-loading, this could be caused by not properly configuring the "
                              "IterableDataset replica at each worker. Please see "
                              "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
                              if self._num_workers else ""), stacklevel=2)
        return pinned(data) if self._pins else data

    def _profiled_next(self):
        from ...autograd.profiler import record_function
        with record_function(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
            return self._next()

    def _skip(self):
        """Makes a batch that was given out before the run was resumed; the program's generators do not move."""
        self._to_skip -= 1
        now = get_rng_state()
        self._next()
        set_rng_state(now)
        self._yielded += 1
        self._position["batches"] += 1


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes batches in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError(f"DataLoader: timeout is for workers; expected 0 with num_workers=0, got {loader.timeout}")
        self._fetcher = worker.Fetcher(loader.dataset, *self._fetcher_arguments)

    def _iterate_indices(self, loader):
        sampler = self._index_sampler
        in_tensors = None
        if isinstance(sampler, BatchSampler) and Gatherer.suits(loader.dataset, loader.collate_fn):
            in_tensors = sampler._in_tensors()
        return super()._iterate_indices(loader) if in_tensors is None else in_tensors

    def _next(self):
        return self._fetcher.fetch(next(self._indices))


class _Worker:
    """A process and the channel to it; it has what its process has (is_alive(), pid, join())."""

    def __init__(self, process, channel):
        self.process = process
        self.channel = channel
        self.active = True  # its stream has not ended
        self.owed = collections.deque()  # (epoch, number) of batches it was asked for and has not sent, in the order of both

    def __getattr__(self, name):
        return getattr(self.process, name)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Lets workers make batches.  Batch n is given out as the nth, whichever worker makes it (unless in_order is False)."""

    def __init__(self, loader):
        super().__init__(loader)
        self._persistent_workers, self._in_order, self._timeout = loader.persistent_workers, loader.in_order, loader.timeout
        assert loader.prefetch_factor > 0, "prefetch_factor must be greater than 0 to load by workers"
        self._most_tasks = loader.prefetch_factor * loader.num_workers
        self.is_shut, self._death = False, None
        self._pid = os.getpid()
        self._epoch = -1
        self._workers = []
        # Also at the end of the program, and when the iterator is forgotten.
        self._finalizer = weakref.finalize(self, _end, self._workers, self._pid)
        context = loader.multiprocessing_context or _default_context()
        try:
            for i in range(loader.num_workers):
                self._workers.append(self._start(loader, context, i))
            self._begin_epoch()
        except BaseException:
            self._shut()
            sleep_if_the_process_ends()
            raise

    def _start(self, loader, context, i):
        ours, theirs = Channel.pair()
        forks = context.get_start_method() == "fork"
        others = [w.channel for w in self._workers] + [ours] if forks else []
        process = context.Process(target=worker.run, daemon=True, args=(
            theirs, others, i, loader.num_workers, self._base_seed, loader.dataset, self._fetcher_arguments,
            loader.worker_init_fn))
        process.start()
        theirs.close()  # the worker's alone, so that its death closes the channel
        return _Worker(process, ours)

    def begin(self, loader):
        """Starts another pass of the loader with the same workers."""
        self._begin(loader)
        self._begin_epoch()

    def _begin_epoch(self):
        self._epoch += 1
        self._sent = self._given = 0
        self._tasks = {}  # batches that were asked for and not given out: their workers
        self._done = {}   # those of them that are here
        self._turns = itertools.cycle(self._workers)
        for w in self._workers:
            w.active = True
        for _ in range(self._most_tasks):
            self._ask()

    def _ask(self):
        """Asks the next worker whose turn it is for the next batch, unless enough are under way."""
        if len(self._tasks) >= self._most_tasks:
            return
        w = next((w for w in itertools.islice(self._turns, len(self._workers)) if w.active), None)
        if w is None:
            return
        index = next(self._indices, self)
        if index is self:
            return
        try:
            w.channel.send((self._epoch, self._sent, index))
        except OSError:
            self._refuse_dead(w)
        w.owed.append((self._epoch, self._sent))
        self._tasks[self._sent] = w
        self._sent += 1

    def _next(self):
        if self._death:
            raise RuntimeError(self._death)
        while True:
            number = self._ready()
            if number is None:
                if not self._persistent_workers:
                    self._shut()
                raise StopIteration
            if number not in self._done:
                self._receive()
                continue
            data, w = self._done.pop(number), self._tasks.pop(number)
            self._given += 1
            # The end of a stream is seen in its turn, so that who makes which batch does not depend on time.
            w.active = w.active and not isinstance(data, worker.End)
            self._ask()
            if isinstance(data, (worker.Failure, Unreadable)):
                data.reraise()
            if not isinstance(data, worker.End):
                return data

    def _ready(self):
        """The number of the batch to give out next, whether it is here or not; None if there is none."""
        if self._in_order:
            return self._given if self._tasks else None
        return next(iter(self._done), next(iter(self._tasks), None))

    def _receive(self):
        """Waits for batches and keeps them."""
        channels = {w.channel: w for w in self._workers}
        for channel in self._wait(list(channels)):
            w = channels[channel]
            try:
                epoch, number, data = channel.receive()
            except (EOFError, ConnectionError):
                self._refuse_dead(w)
            except Unreadable as error:
                (epoch, number), data = w.owed[0], error
            w.owed.popleft()
            if epoch == self._epoch:  # else of a pass that was given up
                self._done[number] = data

    def _wait(self, channels):
        """The channels that have something to say."""
        timeout = self._timeout
        end = time.monotonic() + timeout if timeout else math.inf
        while True:
            ready = wait(channels, min(_SECONDS_BETWEEN_LOOKS, max(0.0, end - time.monotonic())))
            if ready:
                return ready
            if time.monotonic() >= end:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            for w in self._workers:  # a process that a worker has started may keep its channel open
                if not w.process.is_alive():
                    self._refuse_dead(w)

    def _refuse_dead(self, w):
        w.process.join(1)
        pid, code = w.process.pid, w.process.exitcode
        self._shut()
        if code is not None and code < 0:
            died = f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(-code) or -code}. "
            if -code == signal.SIGBUS:
                died += "It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit. "
            if -code == signal.SIGKILL:
                died += "The system may have killed it for want of memory. "
        else:
            died = f"DataLoader worker (pid {pid}) exited with exit code {code}. "
        self._death = died + f"DataLoader worker (pid(s) {pid}) exited unexpectedly"
        raise RuntimeError(self._death)

    def _shut(self):
        self.is_shut = True
        self._finalizer()


def _warn_of_many(workers):
    """Warns of more workers than there are processors for this process."""
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or workers
    if workers > most:
        warnings.warn(f"This DataLoader will create {workers} worker processes in total. Our suggested max number of worker in current "
                      f"system is {most}, which is smaller than what this DataLoader is going to create. Please be aware that "
                      "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid "
                      "potential slowness/freeze if necessary.", stacklevel=3)


def _default_context():
    """Fork, if there is one and the program has not chosen: workers then need nothing to be pickled or imported again."""
    chosen = multiprocessing.get_start_method(allow_none=True)
    if chosen is None and "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context(chosen)


def _end(workers, pid):
    """Closes the channels, which tells workers to end, and sees that they do."""
    if os.getpid() != pid:
        return  # a fork of the program's: these are its parent's
    for w in workers:
        w.channel.finish()
    deadline = time.monotonic() + _SECONDS_TO_END
    for w in workers:
        w.process.join(max(0.0, deadline - time.monotonic()))
    for w in workers:
        if w.process.is_alive():
            w.process.terminate()
            w.process.join(1)
        if w.process.is_alive():
            w.process.kill()
            w.process.join()
