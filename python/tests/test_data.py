"""Data sets, samplers (in PyTorch's order: the expected indices were printed by PyTorch 2.15), and how batches are made."""
import collections
import warnings

import argand as torch
import numpy as np
import pytest
from argand.utils.data import (BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, DistributedSampler,
                               IterableDataset, RandomSampler, SequentialSampler, StackDataset, Subset, SubsetRandomSampler,
                               TensorDataset, WeightedRandomSampler, default_collate, default_convert, random_split)

TEN = list(range(10))


def generator(seed):
    return torch.Generator().manual_seed(seed)


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


def test_tensor_dataset():
    data = TensorDataset(torch.arange(6).reshape(3, 2), torch.tensor([7, 8, 9]))
    assert len(data) == 3 and [t.tolist() for t in data[1]] == [[2, 3], 8]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(torch.ones(2), torch.ones(3))


def test_stack_dataset():
    assert StackDataset(TEN, TEN[::-1])[2] == (2, 7) and StackDataset(a=TEN, b=TEN)[3] == {"a": 3, "b": 3}
    assert StackDataset(TEN, Subset(TEN, TEN[::-1])).__getitems__([0, 1]) == [(0, 9), (1, 8)]
    for call, message in ((lambda: StackDataset(), "At least one dataset"), (lambda: StackDataset(TEN, [1]), "Size mismatch"),
                          (lambda: StackDataset(TEN, a=TEN), "both types are given")):
        with pytest.raises(ValueError, match=message):
            call()


def test_concat_and_chain():
    both = ConcatDataset([TEN, ["a", "b"]])
    assert len(both) == 12 and both[9] == 9 and both[10] == "a" and both[-1] == "b" and both.cumulative_sizes == [10, 12]
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-13]
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Stream(1)])
    assert list(Stream(2) + Stream(3)) == [0, 1, 0, 1, 2] and isinstance(Stream(1) + Stream(1), ChainDataset)


def test_random_split():
    parts = random_split(TEN, [0.35, 0.3, 0.35], generator(1))
    assert [p.indices for p in parts] == [[5, 6, 1, 2], [0, 8, 9], [3, 7, 4]]
    assert [len(p) for p in random_split(TEN, [7, 3])] == [7, 3]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        random_split(TEN, [3, 3])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(TEN, [0.99, 0.01])


def test_random_order():
    torch.manual_seed(5)
    assert [b.tolist() for b in DataLoader(TEN, 4, shuffle=True)] == [[8, 3, 0, 5], [9, 1, 6, 2], [4, 7]]
    assert torch.rand(1).item() == pytest.approx(0.9201, abs=5e-5)  # as much was drawn as in PyTorch
    loader = DataLoader(TEN, 4, shuffle=True, generator=generator(2))
    assert [b.tolist() for b in loader] == [[1, 0, 8, 3], [4, 5, 6, 7], [2, 9]]
    assert list(SubsetRandomSampler([3, 4, 5], generator(0))) == [5, 3, 4]
    counts = collections.Counter(RandomSampler(TEN, num_samples=25))
    assert sorted(counts.values()) == [2] * 5 + [3] * 5
    drawn = list(RandomSampler(TEN, replacement=True, num_samples=70, generator=generator(0)))
    assert len(drawn) == 70 and set(drawn) <= set(TEN)
    assert drawn[:32] == torch.randint(0, 10, (32,), generator=generator(0)).tolist()
    weighted = list(WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 400, generator=generator(0)))
    assert set(weighted) == {1, 3} and 230 < weighted.count(3) < 370
    assert sorted(WeightedRandomSampler([1.0, 1.0], 2, replacement=False)) == [0, 1]


def test_batch_sampler():
    assert list(BatchSampler(SequentialSampler(range(5)), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert len(BatchSampler(range(5), 2, True)) == 2 and len(BatchSampler(range(5), 2, False)) == 3


def test_distributed_sampler():
    ranks = [DistributedSampler(range(10), 4, r, shuffle=False) for r in range(4)]
    assert [list(s) for s in ranks] == [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    assert [list(DistributedSampler(range(10), 4, r, shuffle=False, drop_last=True)) for r in (0, 3)] == [[0, 4], [3, 7]]
    shuffled = [DistributedSampler(range(8), 2, r, seed=3) for r in range(2)]
    assert sorted(i for s in shuffled for i in s) == list(range(8))
    first = list(shuffled[0])
    shuffled[0].set_epoch(1)
    assert list(shuffled[0]) != first
    with pytest.raises(ValueError, match="Invalid rank 2"):
        DistributedSampler(range(8), 2, 2)


@pytest.mark.parametrize("call,error,message", [
    (lambda: RandomSampler(TEN, replacement=3), TypeError, "replacement should be a boolean value, but got replacement=3"),
    (lambda: RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda: BatchSampler(TEN, 0, False), ValueError, "batch_size should be a positive integer value"),
    (lambda: BatchSampler(TEN, 1, 3), ValueError, "drop_last should be a boolean value"),
    (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "weights should be a 1d sequence"),
    (lambda: DataLoader(TEN, num_workers=-1), ValueError, "num_workers option should be non-negative"),
    (lambda: DataLoader(TEN, prefetch_factor=2), ValueError, "prefetch_factor option could only be specified in"),
    (lambda: DataLoader(TEN, persistent_workers=True), ValueError, "persistent_workers option needs num_workers > 0"),
    (lambda: DataLoader(TEN, sampler=TEN, shuffle=True), ValueError, "sampler option is mutually exclusive with shuffle"),
    (lambda: DataLoader(TEN, batch_sampler=[[1]], batch_size=2), ValueError, "batch_sampler option is mutually exclusive"),
    (lambda: DataLoader(TEN, batch_size=None, drop_last=True), ValueError, "batch_size=None option disables auto-batching"),
    (lambda: DataLoader(TEN, multiprocessing_context="fork"), ValueError, "but got num_workers=0"),
    (lambda: DataLoader(TEN, num_workers=1, multiprocessing_context="x"), ValueError, "should specify a valid start method"),
    (lambda: DataLoader(Stream(1), shuffle=True), ValueError, "expected unspecified shuffle option, but got shuffle=True"),
    (lambda: setattr(DataLoader(TEN), "batch_size", 3), ValueError, "batch_size attribute should not be set after"),
    (lambda: len(DataLoader(Stream(1))), TypeError, "has no len()"),
])
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


# ---- batches

Pair = collections.namedtuple("Pair", "x y")


def test_default_collate():
    assert default_collate([torch.ones(2), torch.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert default_collate([np.ones(2, np.float32)] * 3).shape == (3, 2)
    floats = default_collate([1.5, 2.5])
    assert floats.dtype is torch.float64 and default_collate([1, 2]).dtype is torch.int64
    assert default_collate([True, False]).dtype is torch.bool and default_collate([np.float32(1)]).dtype is torch.float32
    assert default_collate(["a", "b"]) == ["a", "b"] and default_collate([b"a"]) == [b"a"]
    batch = default_collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    assert batch["a"].tolist() == [1, 2] and batch["b"] == ["x", "y"]
    pair = default_collate([Pair(1, 2.0), Pair(3, 4.0)])
    assert isinstance(pair, Pair) and pair.x.tolist() == [1, 3]
    nested = default_collate([(1, [2, 3]), (4, [5, 6])])
    assert isinstance(nested, list) and nested[1][0].tolist() == [2, 5]
    assert default_collate([(1, "x"), (2, "y")])[1] == ("x", "y")
    ordered = default_collate([collections.OrderedDict(z=1, a=2)])
    assert isinstance(ordered, collections.OrderedDict) and list(ordered) == ["z", "a"]
    for batch, error, message in (([object()], TypeError, "batch must contain tensors, numpy arrays, numbers, dicts or lists; "
                                   "found <class 'object'>"), ([[1, 2], [1]], RuntimeError, "should be of equal size"),
                                  ([np.array(["a"])], TypeError, "batch must contain tensors")):
        with pytest.raises(error, match=message):
            default_collate(batch)


def test_default_convert():
    out = default_convert({"a": np.ones(2), "b": 1, "c": ["x", np.float32(2)]})
    assert isinstance(out["a"], torch.Tensor) and out["a"].dtype is torch.float64 and out["b"] == 1
    assert out["c"][0] == "x" and out["c"][1].item() == 2


def test_loader_in_this_process():
    data = TensorDataset(torch.arange(5), torch.arange(5) * 10)
    batches = list(DataLoader(data, 2))
    assert [b[1].tolist() for b in batches] == [[0, 10], [20, 30], [40]] and isinstance(batches[0], list)
    assert len(DataLoader(data, 2)) == 3 and len(DataLoader(data, 2, drop_last=True)) == 2
    assert list(DataLoader(TEN, batch_size=None)) == TEN
    assert [b.tolist() for b in DataLoader(TEN, batch_sampler=[[1, 2], [9]])] == [[1, 2], [9]]
    assert [b.tolist() for b in DataLoader(TEN, 3, sampler=[3, 2, 1, 0])] == [[3, 2, 1], [0]]
    assert [b.tolist() for b in DataLoader(Stream(5), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Stream(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(TEN, 4, collate_fn=sum)) == [6, 22, 17]


def test_getitems_gets_whole_batches():
    class Many(Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [i * 100 for i in indices]
    assert [b.tolist() for b in DataLoader(Many(), 2)] == [[0, 100], [200, 300]]


def test_length_of_a_stream_is_checked():
    class Long(Stream):
        def __len__(self):
            return 2
    loader = DataLoader(Long(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(loader)) == 4  # nobody has asked for the length
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2") as told:
        list(loader)
    assert len(told) == 2  # one for each too many
