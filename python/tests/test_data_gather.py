"""Batches of tensors, which the loader gathers by one call for each tensor: they are those that default_collate makes of samples."""
import argand as torch
import pytest
from argand.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler, Subset, TensorDataset, default_collate
from argand.utils.data.gather import Gatherer

X = torch.arange(60.0).view(20, 3)
Y = torch.arange(20)
DATA = TensorDataset(X, Y)


def of_samples(batch):
    """A collate_fn that the loader does not know."""
    return default_collate(batch)


def batches(dataset, seed, sampler, collate_fn, **options):
    generator = torch.Generator().manual_seed(seed)
    if sampler:
        options["sampler"] = sampler(dataset, generator)
    torch.manual_seed(seed)
    loader = DataLoader(dataset, generator=generator, collate_fn=collate_fn, **options)
    found = [[t.tolist() for t in batch] for _ in range(2) for batch in loader]
    return found, torch.rand(1).item(), torch.rand(1, generator=generator).item()


@pytest.mark.parametrize("options", [
    {}, {"shuffle": True}, {"drop_last": True}, {"shuffle": True, "drop_last": True, "batch_size": 5}, {"batch_size": 100}, {"batch_size": 1}], ids=str)
@pytest.mark.parametrize("dataset", [DATA, Subset(DATA, [3, -1, 7, 7, 0]), Subset(DATA, range(4))], ids=["all", "subset", "range"])
def test_the_same_batches_and_draws(dataset, options):
    options = {"batch_size": 3} | options
    assert batches(dataset, 1, None, None, **options) == batches(dataset, 1, None, of_samples, **options)


@pytest.mark.parametrize("sampler", [
    lambda d, g: RandomSampler(d, replacement=True, num_samples=71, generator=g), lambda d, g: RandomSampler(d, num_samples=47, generator=g),
    lambda d, g: RandomSampler(d), lambda d, g: SequentialSampler(d), lambda d, g: [4, 4, -2, 0, 19]])
def test_samplers(sampler):
    for workers in (0, 1):
        assert batches(DATA, 2, sampler, None, batch_size=4, num_workers=workers) == batches(DATA, 2, sampler, of_samples, batch_size=4)


def test_batches_of_a_program():
    chosen = [[0, 1], [5], [-1, 2, 2], (3, 4), torch.tensor([6, 7]), torch.tensor([1, -2]), range(2, 5), iter([8, 9])]
    expected = [[t.tolist() for t in of_samples([DATA[i] for i in indices])] for indices in [*chosen[:-1], [8, 9]]]
    for workers in (0, 1):
        chosen[-1] = [8, 9] if workers else iter([8, 9])  # an iterator is not sent
        assert [[t.tolist() for t in batch] for batch in DataLoader(DATA, batch_sampler=chosen, num_workers=workers)] == expected
    assert list(BatchSampler(RandomSampler(DATA), 7, False))[0].__class__ is list


@pytest.mark.parametrize("indices", [[0, 20], [-21], ["a"]])
def test_the_same_errors(indices):
    said = []
    for collate_fn in (None, of_samples):
        with pytest.raises((IndexError, TypeError)) as error:
            list(DataLoader(DATA, sampler=indices, batch_size=2, collate_fn=collate_fn))
        said.append((error.type, str(error.value)))
    assert said[0] == said[1]


def test_batches_are_copies_and_lists():
    batch = next(iter(DataLoader(DATA, batch_size=20)))
    assert type(batch) is list
    batch[0].zero_()
    assert X[1, 0] == 3


def test_what_is_asked_sample_by_sample():
    class Logged(TensorDataset):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)
    asked = []
    list(DataLoader(Logged(X, Y), batch_size=4))
    assert asked == list(range(20))
    assert Gatherer.of(Logged(X, Y), default_collate) is None and Gatherer.of(DATA, of_samples) is None
    weight = X.clone().requires_grad_()
    (batch,) = next(iter(DataLoader(TensorDataset(weight), batch_size=2)))
    batch.sum().backward()
    assert weight.grad.sum() == 6


def test_goes_on_in_the_middle():
    loader = DataLoader(DATA, batch_size=3, shuffle=True)
    torch.manual_seed(5)
    whole = [batch[1].tolist() for batch in loader]
    torch.manual_seed(5)
    begun = iter(loader)
    first = [next(begun)[1].tolist() for _ in range(2)]
    other = DataLoader(DATA, batch_size=3, shuffle=True)
    other.load_state_dict(loader.state_dict())
    assert first + [batch[1].tolist() for batch in other] == whole
