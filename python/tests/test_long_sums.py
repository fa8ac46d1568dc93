"""Sums of a million elements: as near to those of float64 as pieces make them, whatever the op, and no sum of bfloat16 is
rounded before its end.  What is added one by one in float32 is off by 1e-5 and more."""
import argand as torch
import pytest
from argand.nn import functional as F

N = 1 << 20
X = torch.rand(N, generator=torch.Generator().manual_seed(0))
ROWS, PAIRS = X.view(-1, 4), X.view(-1, 2)
THREE = torch.arange(N) % 3
THREE_OF_ROWS, THREE_OF_PAIRS = THREE[:N // 4], THREE[:N // 2]


def gradient(f, x, *rest):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(f(x, *rest), x)[0]


def zeros(x, *sizes):
    return torch.zeros(sizes, dtype=x.dtype)


def weighted(y):
    return (y.reshape(-1) * torch.linspace(0, 1, y.numel(), dtype=y.dtype)).sum()


SUMS = {
    "index_add": lambda x: zeros(x, 3).index_add(0, THREE, x),
    "index_add of rows": lambda x: zeros(x, 3, 4).index_add(0, THREE_OF_ROWS, x.view(-1, 4)),
    "index_add of long rows": lambda x: zeros(x, 3, 300).index_add(0, THREE[:3000], x[:900000].view(3000, 300)),
    "index_add of columns": lambda x: zeros(x, 4, 3).index_add(1, THREE_OF_ROWS, x.view(4, -1)),
    "scatter_add": lambda x: zeros(x, 3).scatter_add(0, THREE, x),
    "scatter_add of rows": lambda x: zeros(x, 3, 4).scatter_add(0, THREE_OF_ROWS[:, None].expand(-1, 4), x.view(-1, 4)),
    "scatter_add of columns": lambda x: zeros(x, 4, 3).scatter_add(1, THREE_OF_ROWS.expand(4, -1).contiguous(), x.view(4, -1)),
    "scatter_reduce": lambda x: zeros(x, 3).scatter_reduce(0, THREE, x, "sum"),
    "scatter_reduce mean": lambda x: zeros(x, 3).scatter_reduce(0, THREE, x, "mean"),
    "index_reduce": lambda x: zeros(x, 3).index_reduce(0, THREE, x, "mean"),
    "index_put": lambda x: zeros(x, 3).index_put((THREE,), x, accumulate=True),
    "put": lambda x: zeros(x, 3).put_(THREE, x, accumulate=True),
    "bincount": lambda x: torch.bincount(THREE, x),
    "embedding": lambda x: gradient(lambda w: weighted(F.embedding(THREE_OF_PAIRS, w)), x[:6].view(3, 2)),
    "embedding_bag": lambda x: F.embedding_bag(torch.arange(N // 2)[None], x.view(-1, 2), mode="sum"),
    "embedding_bag mean": lambda x: F.embedding_bag(torch.arange(N // 2), x.view(-1, 2), torch.tensor([0, N // 4]), mode="mean"),
    "segment_reduce": lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([N])),
    "avg_pool1d": lambda x: F.avg_pool1d(x.view(1, 1, -1), N),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x.view(1, 1, 1024, 1024), 1),
    "adaptive_avg_pool2d of channels": lambda x: F.adaptive_avg_pool2d(
        x.view(1, 4, 512, 512).contiguous(memory_format=torch.channels_last), 1),
    "softmax of columns": lambda x: x.view(-1, 4).softmax(0),
    "gather": lambda x: gradient(lambda v: weighted(v.gather(0, THREE)), x[:3]),
    "take": lambda x: gradient(lambda v: weighted(v.take(THREE)), x[:3]),
    "index": lambda x: gradient(lambda v: weighted(v[THREE]), x[:3]),
    "grid_sample": lambda x: gradient(lambda v: F.grid_sample(v.view(1, 1, 2, 2), x.view(1, 512, 1024, 2), align_corners=True).sum(), x[:4]),
}


def largest_share(a, b):
    return ((a.double() - b).abs().max() / b.abs().max()).item()


@pytest.mark.parametrize("dtype, limit", [(torch.float32, 5e-6), (torch.bfloat16, 8e-3)])
@pytest.mark.parametrize("name", SUMS)
def test_a_long_sum(name, dtype, limit):
    x = X.to(dtype)
    if name == "bincount" and dtype != torch.float32:
        pytest.skip("sums of other weights are float64")
    if name == "embedding":
        limit *= 2  # the weights of its rows grow, so that roundings of the sum of pieces do not cancel
    assert largest_share(SUMS[name](x), SUMS[name](x.double())) < limit


@pytest.mark.parametrize("name", SUMS)
def test_threads_do_not_matter(name):
    before, results = torch.get_num_threads(), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        results.append(SUMS[name](X))
    torch.set_num_threads(before)
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])


@pytest.mark.parametrize("count, places", [(8, 5), (8, 50000), (3000, 50000)])
def test_sums_of_bfloat16_are_rounded_once(count, places):
    """Few elements in many places, and many: each way to add them."""
    g = torch.Generator().manual_seed(1)
    x, index = torch.rand(64, count, generator=g).bfloat16(), torch.randint(min(places, 7), (64, count), generator=g)
    start = torch.rand(64, places, generator=g).bfloat16()
    expected = start.double().scatter_add(1, index, x.double())
    assert largest_share(start.scatter_add(1, index, x), expected) < 2 ** -8
