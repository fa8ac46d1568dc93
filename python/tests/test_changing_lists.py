"""Lists that Python code empties while a call reads their items: the call uses the items that they had.

Without the copies of bindings/items.h these tests read freed memory, so they end the process or find wrong numbers.
"""
import argand as torch
import pytest

X = torch.arange(24.).view(2, 3, 4)


class Emptying:
    """The number 1, which empties `owner` when it is asked for it."""

    def __init__(self, owner):
        self.owner = owner

    def __index__(self):
        self.owner.clear()
        return 1

    def __float__(self):
        self.owner.clear()
        return 1.


def emptied(values, at=1):
    """A list of objects that only this list holds, whose item `at` empties it."""
    made = [v + type(v)(1000) - type(v)(1000) for v in values]
    made[at] = Emptying(made)
    return made


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("of", [int, float])
def test_elements(at, of):
    values = [of(1) if i == at else of(1000 + i) for i in range(200)]
    for make in (torch.tensor, torch.Tensor, X.new_tensor, torch.as_tensor):
        assert make(emptied(values, at)).tolist() == values


def test_elements_of_nested_lists():
    rows = [[1000, 1001, 1002], [2000, 2001, 2002]]
    rows[0][1] = Emptying(rows)  # the outer list, and with it both inner ones
    assert torch.tensor(rows).tolist() == [[1000, 1, 1002], [2000, 2001, 2002]]
    assert torch.tensor([emptied([7, 1, 9]), emptied([5, 1, 6], 0)]).tolist() == [[7, 1, 9], [1, 1, 6]]


@pytest.mark.parametrize("at", [0, 1])
def test_sizes_and_dims(at):
    assert torch.ones(emptied([1, 1, 3], at)).shape == (1, 1, 3)
    assert X.view(emptied([1, 1, 24], at)).shape == (1, 1, 24)
    assert X.permute(emptied([1, 0, 2] if at == 0 else [2, 1, 0], at)).shape == ((3, 2, 4) if at == 0 else (4, 3, 2))
    assert torch.equal(X.sum(emptied([1, 2] if at == 0 else [2, 1], at)), X.sum((1, 2)))
    assert torch.equal(X.flip(emptied([1, 0] if at == 0 else [0, 1], at)), X.flip((0, 1)))


@pytest.mark.parametrize("at", [0, 1])
def test_numbers(at):
    data = torch.nn.functional.interpolate(X, scale_factor=emptied([1.], 0))
    assert data.shape == X.shape
    found = torch.histogramdd(torch.rand(5, 2), bins=[2, 2], range=emptied([0., 1., 1., 2.] if at else [1., 2., 0., 1.], at))
    assert found.hist.shape == (2, 2)


@pytest.mark.parametrize("at", [0, 1])
def test_indices(at):
    keys = [1, 3, 2] if at == 0 else [3, 1, 2]
    assert torch.equal(X[0, 0][emptied(keys, at)], X[0, 0][keys])
    assert torch.equal(X[0][..., emptied(keys, at)], X[0][..., keys])
    written, expected = X[0, 0].clone(), X[0, 0].clone()
    expected[keys] = 9
    written[emptied(keys, at)] = 9
    assert torch.equal(written, expected)


def test_overriding_elements():
    operands = []

    def kind(answers):
        class Kind(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, arguments=(), keywords=None):
                operands.clear()
                return answers
        return Kind

    operands.extend(torch.ones(1).as_subclass(kind(NotImplemented)) for _ in range(3))
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        torch.cat(operands)
    operands.extend(torch.ones(1).as_subclass(kind(a)) for a in (NotImplemented, 7))
    assert torch.cat(operands) == 7


def test_looking_for_an_override_may_run_code():
    operands = []

    class Meta(type(torch.Tensor)):
        def __getattribute__(cls, name):
            if name == "__torch_function__":
                operands.clear()
            return super().__getattribute__(name)

    class Kind(torch.Tensor, metaclass=Meta):
        pass

    operands.extend(torch.ones(1).as_subclass(Kind) for _ in range(3))
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        torch.cat(operands)
