"""Indexing and broadcasting against NumPy, over shapes and keys made up by Hypothesis."""
import argand as torch
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


@st.composite
def arrays_and_keys(draw):
    shape = draw(shapes)
    key = []
    for n in shape[:draw(st.integers(0, len(shape)))]:
        key.append(draw(st.one_of(
            st.integers(-n, n - 1),
            st.builds(slice, st.none() | st.integers(-n, n), st.none() | st.integers(-n, n), st.none() | st.integers(1, 3)))))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    if draw(st.booleans()):
        key.insert(len(key), ...)
    return np.arange(np.prod(shape)).reshape(shape), tuple(key)


@settings(max_examples=300, deadline=None)
@given(arrays_and_keys())
def test_basic_keys(case):
    array, key = case
    expected, got = array[key], torch.from_numpy(array)[key]
    assert tuple(got.shape) == np.shape(expected) and np.array_equal(got.numpy(), expected)


@settings(max_examples=150, deadline=None)
@given(arrays_and_keys())
def test_assignment(case):
    array, key = case
    ours = torch.from_numpy(array.copy())
    expected = array.copy()
    expected[key] = -1
    ours[key] = -1
    assert np.array_equal(ours.numpy(), expected)


@settings(max_examples=150, deadline=None)
@given(shapes.flatmap(lambda s: st.tuples(st.just(s), hnp.integer_array_indices(s, result_shape=hnp.array_shapes(max_dims=2)))))
def test_integer_arrays(case):
    shape, key = case
    array = np.arange(np.prod(shape)).reshape(shape)
    ours = torch.from_numpy(array)[tuple(torch.from_numpy(np.ascontiguousarray(k)).long() for k in key)]
    assert np.array_equal(ours.numpy(), array[key])


@settings(max_examples=150, deadline=None)
@given(hnp.arrays(np.int64, shapes, elements=st.integers(-5, 5)))
def test_masks(array):
    ours = torch.from_numpy(array.copy())
    assert np.array_equal(ours[ours > 0].numpy(), array[array > 0])
    ours[ours < 0] = 9
    assert np.array_equal(ours.numpy(), np.where(array < 0, 9, array))


@settings(max_examples=200, deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
def test_broadcasting(case):
    a, b = (np.arange(np.prod(s), dtype=np.float64).reshape(s) for s in case.input_shapes)
    got = torch.tensor(a) * torch.tensor(b) + torch.tensor(b)
    assert tuple(got.shape) == case.result_shape and np.array_equal(got.numpy(), a * b + b)


def test_lists_and_what_is_no_index():
    x = torch.arange(6).reshape(2, 3)
    assert x[[1, 0]].tolist() == [[3, 4, 5], [0, 1, 2]] and x[:, [0, 2]].tolist() == [[0, 2], [3, 5]]
    assert x[[]].shape == (0, 3) and x[True].shape == (1, 2, 3) and x[torch.tensor(1), 2].item() == 5
    assert x[np.array([1]), np.int64(0)].tolist() == [3]
    # A list of sequences is the tuple of them, as in PyTorch and as it once was in NumPy.
    assert x[[[0, 1], [1, 2]]].tolist() == [1, 5] and x[[(0, 1)]].shape == (2, 3) and x[[0, [1, 2]]].tolist() == [1, 2]
    assert x[[np.array([0, 1]), np.array([2, 0])]].tolist() == [2, 3] and x[[[0, 1], [1, 0]],].shape == (2, 2, 3)
    x[0] = torch.tensor([9, 9, 9])
    assert x[0].tolist() == [9, 9, 9]
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        x[5]
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        x["a"]
    with pytest.raises(IndexError):
        x[0, 0, 0]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(RuntimeError):
        x[0] = torch.ones(5)
