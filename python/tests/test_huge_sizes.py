"""Numbers of pieces and sizes beyond all memory are refused before work begins that grows with them."""
import os
import subprocess
import sys
import time

import pytest

import argand as torch

F = torch.nn.functional
x, rows, image = torch.ones(4), torch.ones(2, 3), torch.ones(1, 1, 4, 4)
CALLS = {
    "tensor_split": lambda n: x.tensor_split(n), "tensor_split by a tensor": lambda n: torch.tensor_split(x, torch.tensor(n)),
    "chunk of nothing": lambda n: torch.ones(0, 3).chunk(n), "unbind": lambda n: torch.ones(1).expand(n).unbind(),
    "split": lambda n: torch.ones(1).expand(n).split(1), "chunk": lambda n: torch.ones(1).expand(n).chunk(n),
    "pad replicate": lambda n: F.pad(image, (n, 0, 0, 0), mode="replicate"), "repeat": lambda n: x.repeat(n), "tile": lambda n: rows.tile((n, n)),
    "arange": torch.arange, "one_hot": lambda n: F.one_hot(torch.tensor([1, 2]), n), "bincount": lambda n: torch.bincount(torch.tensor([1]), minlength=n),
    "vander": lambda n: torch.vander(x, n), "interpolate": lambda n: F.interpolate(image, size=n), "fold": lambda n: F.fold(torch.ones(1, 4, 9), n, 2),
    "affine_grid": lambda n: F.affine_grid(torch.ones(1, 2, 3), (1, 1, n, n)), "combinations": lambda n: torch.combinations(x, n, with_replacement=True),
    "unfold": lambda n: F.unfold(image, 2, padding=n), "tril_indices": lambda n: torch.tril_indices(n, n), "linspace": lambda n: torch.linspace(0, 1, n),
    "repeat_interleave by a tensor": lambda n: torch.repeat_interleave(x, torch.tensor([n, 1, 1, 1])),
    "numbers of repeats": lambda n: torch.repeat_interleave(torch.tensor([n])), "tensordot": lambda n: torch.tensordot(x, x, n),
    "combinations of many": lambda n: torch.combinations(torch.ones(20000), min(n, 5)),
    "segments": lambda n: torch.segment_reduce(x, "sum", offsets=torch.tensor([0, n]))}


@pytest.mark.parametrize("size", (2**40, 2**50, 2**62))
@pytest.mark.parametrize("name", CALLS)
def test_refused_at_once(name, size):
    begin = time.process_time()
    with pytest.raises((RuntimeError, MemoryError)):
        CALLS[name](size)
    assert time.process_time() - begin < 1


SMALLEST = torch.tensor([float("nan")]).long()  # -2^63
CALLS_BY_INDEX = {
    "index": lambda i: x[i], "index_put": lambda i: x.index_put((i,), torch.tensor(1.)), "index_select": lambda i: x.index_select(0, i),
    "gather": lambda i: x.gather(0, i), "scatter": lambda i: x.scatter(0, i, 1.), "scatter_add": lambda i: x.scatter_add(0, i, x[:1]),
    "index_add": lambda i: x.index_add(0, i, x[:1]), "index_copy": lambda i: x.index_copy(0, i, x[:1]), "take": lambda i: x.take(i),
    "put": lambda i: x.put(i, x[:1]), "embedding": lambda i: F.embedding(i, rows), "nll_loss": lambda i: F.nll_loss(rows[:1], i),
    "cross_entropy": lambda i: F.cross_entropy(rows[:1], i), "item": lambda i: x[i.item()],
    "bytes": lambda i: torch.ones(4, dtype=torch.uint8)[i], "unpool": lambda i: F.max_unpool1d(x.view(1, 1, 4), i.expand(1, 1, 4), 2),
    "roi_align": lambda i: torch.ops.torchvision.roi_align(image, torch.tensor([[float("nan"), 0., 0., 1., 1.]]), 1., 2, 2, 1, False)}


@pytest.mark.parametrize("name", CALLS_BY_INDEX)
def test_what_a_nan_is_as_an_index_is_out_of_bounds(name):
    assert SMALLEST.item() == -2**63
    with pytest.raises(IndexError, match="-9223372036854775808"):
        CALLS_BY_INDEX[name](SMALLEST)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.bfloat16))
@pytest.mark.parametrize("repeats", (1, 5000))
def test_a_float_that_int32_does_not_hold_is_no_index(dtype, repeats):
    floats = torch.tensor([float("nan"), float("inf"), 4e9, -1.5], dtype=dtype).repeat(repeats)
    for values in (floats, floats * 2 / 2, floats.view(repeats, 4).t().contiguous().t()):
        assert values.to(torch.int32).reshape(-1).tolist() == [-2**31, -2**31, -2**31, -1] * repeats
        assert values.to(torch.int16).reshape(-1).tolist() == torch.empty(values.shape, dtype=torch.int16).copy_(values).reshape(-1).tolist()
        assert values.to(torch.int16).reshape(-1)[:4].tolist() == [0, 0, 0, -1]
    with pytest.raises(IndexError, match="-2147483648"):
        x[floats[:1].int()]


def test_powers_of_matrices_by_the_smallest_number():
    assert torch.linalg.matrix_power(torch.eye(2) * 2, -2**63).tolist() == [[0., 0.], [0., 0.]]
    assert torch.matrix_power(torch.eye(2), -2**63).equal(torch.eye(2))


@pytest.mark.parametrize("size", (10**9, 2**40, 2**62))
def test_answered_at_once(size):
    begin = time.process_time()
    assert [p.tolist() for p in x.chunk(size)] == [[1.], [1.], [1.], [1.]] and [p.shape for p in x.split(size)] == [(4,)]
    window = torch.ones(4, requires_grad=True)
    window.unfold(0, 2, size)[0].sum().backward()
    assert window.grad.tolist() == [1., 1., 0., 0.] and x[1::size].tolist() == x[1:2].tolist() and x[4::size].shape == (0,)
    assert x.diff(size).shape == (0,) and rows.diff(n=size).shape == (2, 0) and torch.combinations(x, size).shape == (0, size)
    assert time.process_time() - begin < 1


def test_memory_that_a_result_needs_is_all_that_is_asked_for():
    """The padded bytes fit into the limit; as many int64 would not."""
    program = """
import resource
import argand as torch
x = torch.zeros(1, 1, 16, 1 << 24, dtype=torch.uint8)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
padded = torch.nn.functional.pad(x, (0, 0, 16, 16), mode="circular")
print(tuple(padded.shape), int(padded[0, 0, 0, 0]))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                         env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert ran.stdout == "(1, 1, 48, 16777216) 0\n", ran.stderr
