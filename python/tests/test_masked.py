"""Masked reductions against NumPy's of the elements that count."""
import argand as torch
import numpy as np
import pytest
from argand import masked

INF, NAN = float("inf"), float("nan")
VALUES = np.array([[1.5, NAN, -3.0, 4.0], [2.0, 5.0, -1.0, 0.5]])
MASK = np.array([[True, False, True, False], [True, True, True, True]])
REDUCED = {
    "sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "mean": np.mean, "std": lambda v: np.std(v, ddof=1),
    "var": lambda v: np.var(v, ddof=1), "norm": np.linalg.norm, "logsumexp": lambda v: np.log(np.exp(v).sum()),
    "median": lambda v: np.sort(v)[(len(v) - 1) // 2]}
X, ON = torch.tensor(VALUES), torch.tensor(MASK)


@pytest.mark.parametrize("name", REDUCED)
def test_of_what_counts(name):
    x = X.clone().requires_grad_()
    got = getattr(masked, name)(x, dim=1, mask=ON)
    np.testing.assert_allclose(got.detach().numpy(), [REDUCED[name](row[on]) for row, on in zip(VALUES, MASK)])
    got.sum().backward()
    assert x.grad[~ON].eq(0).all() and x.grad[ON].isfinite().all()
    assert getattr(masked, name)(X, dim=1, keepdim=True, mask=ON).shape == (2, 1)
    np.testing.assert_allclose(getattr(masked, name)(X[1], dim=0), REDUCED[name](VALUES[1]))  # without a mask
    if name != "median":
        np.testing.assert_allclose(getattr(masked, name)(X, mask=ON), REDUCED[name](VALUES[MASK]))
        assert getattr(masked, name)(X, dim=[0, -1], mask=ON).shape == ()
        assert getattr(masked, name)(X, dim=(), mask=ON).shape == ()
        assert getattr(masked, name)(X, dim=[], mask=ON).shape == (X.shape if name == "prod" else ())  # as in PyTorch


@pytest.mark.parametrize("name, of_none", [
    ("sum", 0), ("prod", 1), ("amax", -INF), ("amin", INF), ("mean", NAN), ("std", NAN), ("var", NAN), ("norm", 0), ("logsumexp", -INF),
    ("median", NAN)])
def test_of_none(name, of_none):
    got = getattr(masked, name)(X, dim=0, mask=torch.tensor(False))
    np.testing.assert_equal(got.tolist(), [of_none] * 4)


def test_integers():
    x, on = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int8), torch.tensor([[1, 0, 1], [0, 0, 0]])
    assert masked.amax(x, 1, mask=on).tolist() == [3, -128] and masked.amin(x, 1, mask=on).tolist() == [1, 127]
    assert masked.sum(x, mask=on).dtype is masked.prod(x[0, 0]).dtype is torch.int64
    assert masked.argmax(x, 1, mask=on).tolist() == [2, 0] and masked.argmin(x, mask=on, dtype=torch.int32).item() == 0
    assert masked.cumsum(x, 1, mask=on).tolist() == [[1, 1, 4], [0, 0, 0]] and masked.cumprod(x, 1, mask=on).dtype is torch.int8
    assert masked.median(x, mask=torch.tensor([True, True, False])).tolist() == [1, 4]
    assert masked.var(x, 1, unbiased=False).tolist() == pytest.approx([2 / 3] * 2)


def test_a_correction_that_is_no_integer():
    x = torch.tensor([1.5, 2.25, 7.0, 11.0], dtype=torch.float64)
    assert torch.masked.var(x, 0, correction=1.3).item() == pytest.approx(59.046875 / 2.7, rel=1e-15)


def test_along_a_dimension():
    soft = masked.softmax(X, 1, mask=ON)
    expected = np.where(MASK, np.exp(VALUES), 0)
    np.testing.assert_allclose(soft, expected / expected.sum(1, keepdims=True))
    torch.testing.assert_close(masked.log_softmax(X, 1, mask=ON), soft.log())
    torch.testing.assert_close(masked.softmin(-X, 1, mask=ON), soft)
    assert masked.softmax(X[:1], 1, mask=torch.tensor(False)).isnan().all()
    np.testing.assert_allclose(masked.normalize(X, 2.0, 1, mask=ON)[0, [0, 1, 2]], np.array([1.5, 0, -3]) / np.hypot(1.5, 3))
    assert masked.norm(X[:1], -INF, mask=torch.tensor(False)).item() == INF
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    got = masked.logaddexp(a, b, input_mask=torch.tensor([True, False]), other_mask=torch.tensor([True, False]))
    assert got.tolist() == [torch.logaddexp(a, b)[0].item(), -INF]


@pytest.mark.parametrize("error, message, call", [
    (IndexError, "broadcastable mask", lambda: masked.sum(X[0], mask=ON)),
    (IndexError, r"\[-2, 1\], but got 2", lambda: masked.sum(X, 2)),
    (RuntimeError, "appears multiple times", lambda: masked.prod(X, (1, -1))),
    (RuntimeError, "expanded size", lambda: masked.sum(X, mask=torch.tensor([True, False]))),
    (NotImplementedError, "identity of amax on torch.bool", lambda: masked.amax(ON, mask=ON)),
    (ValueError, "Could not infer output dtype. Input", lambda: masked.mean(torch.ones(2, dtype=torch.int64))),
    (ValueError, "no fully masked out rows", lambda: masked.median(torch.ones(2, dtype=torch.int64), mask=torch.tensor(False))),
    (AssertionError, "Only one of", lambda: masked.var(X, 1, True, correction=0)),
    (NotImplementedError, "MaskedTensor: a tensor does not carry its mask", lambda: masked.MaskedTensor(X, ON)),
    (NotImplementedError, "take mask=", lambda: masked.masked_tensor(X, ON))])
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_no_tensor_is_masked():
    assert not masked.is_masked_tensor(X) and not isinstance(X, masked.MaskedTensor)
