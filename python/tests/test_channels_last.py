"""Ops that work on channels last as they lie give what they give with channels first, in the layout they were given."""
import random

import argand as torch
import argand.nn.functional as F
import pytest

FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def results(function, x, leaves, last):
    """Outputs and gradients; those of x's shape lie as x does."""
    x = x.detach().to(memory_format=FORMATS[x.dim()]) if last else x.detach().clone()
    leaves = [t.detach().clone() for t in leaves]
    if not x.is_floating_point():
        return function(x)
    y = function(x.requires_grad_(), *(t.requires_grad_() for t in leaves))
    torch.manual_seed(3)
    y[0].backward(torch.randn(y[0].shape).to(y[0].dtype))
    if last and x.stride() != x.contiguous().stride():
        assert x.grad.is_contiguous(memory_format=FORMATS[x.dim()])
        assert y[0].is_contiguous(memory_format=FORMATS[x.dim()])
    return [*y, x.grad, *(t.grad for t in leaves)]


def image(rng, dtype, channels=(2, 3, 17, 64, 65, 130)):
    spatial = rng.choice([2, 2, 3])
    shape = [rng.randint(1, 3), rng.choice(channels)] + [rng.randint(1, 12 if spatial == 2 else 5) for _ in range(spatial)]
    if dtype in (torch.int64, torch.uint8):
        return torch.randint(0, 5, shape).to(dtype)
    x = torch.randn(shape)
    if rng.random() < 0.3:
        x[torch.rand(shape) < 0.2] = float("nan")
    return x.to(dtype)


def pool(rng, kind, dims):
    kernel = [rng.randint(1, 4) for _ in range(dims)]
    stride = [rng.randint(1, 3) for _ in range(dims)]
    padding = [rng.randint(0, k // 2) for k in kernel]
    dilation = [rng.choice([1, 1, 2]) for _ in range(dims)]
    ceil, out = rng.random() < 0.5, [rng.randint(1, 6) for _ in range(dims)]
    if kind == "max":
        op = (F.max_pool2d, F.max_pool3d)[dims - 2]
        return lambda x: op(x, kernel, stride, padding, dilation, ceil, True)
    if kind == "avg":
        op, counts = (F.avg_pool2d, F.avg_pool3d)[dims - 2], rng.random() < 0.5
        return lambda x: (op(x, kernel, stride, padding, ceil, counts),)
    if kind == "adaptive_max":
        op = (F.adaptive_max_pool2d, F.adaptive_max_pool3d)[dims - 2]
        return lambda x: op(x, out, True)
    op = (F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[dims - 2]
    return lambda x: (op(x, out),)


@pytest.mark.parametrize("kind", ["max", "avg", "adaptive_max", "adaptive_avg"])
def test_pools_give_the_same_bits(kind):
    torch.manual_seed(1)
    rng, compared = random.Random(kind), 0
    whole = [torch.int64, torch.uint8] if "max" in kind else []
    for _ in range(120):
        x = image(rng, rng.choice([torch.float32, torch.float64, torch.bfloat16, torch.float16, *whole]))
        function = pool(rng, kind, x.dim() - 2)
        try:
            expected = results(function, x, [], False)
        except (RuntimeError, ValueError) as error:  # windows that do not fit
            with pytest.raises(type(error)):
                results(function, x, [], True)
            continue
        for a, b in zip(expected, results(function, x, [], True), strict=True):
            assert a.shape == b.shape and torch.equal(torch.nan_to_num(a, nan=77), torch.nan_to_num(b, nan=77))
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    torch.manual_seed(2)
    rng = random.Random(5)
    for _ in range(60):
        x = torch.nan_to_num(image(rng, torch.float64, (2, 3, 17, 300, 5000)), nan=0.5) + 3
        if training and x.numel() == x.shape[1]:
            continue  # one value a channel has no variance
        running = torch.rand(2, x.shape[1], dtype=x.dtype) + 0.5
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            weights = [torch.randn(x.shape[1]).to(dtype), torch.randn(x.shape[1]).to(dtype)]
            moved = []

            def function(x, w, b):
                mean, var = running.to(dtype)
                moved.append((mean, var))
                return (F.batch_norm(x, mean, var, w, b, training),)
            expected = results(function, x.to(dtype), weights, False)
            got = results(function, x.to(dtype), weights, True)
            near = {torch.float64: 1e-10, torch.float32: 2e-4, torch.bfloat16: 4e-2}[dtype]
            for a, b in zip([*expected, *moved[0]], [*got, *moved[1]], strict=True):
                assert torch.allclose(a, b, rtol=near, atol=near * (1 + float(a.abs().max())))


def test_strides_of_dimensions_of_size_one_say_the_format():
    weight = torch.ones(8, 1, 3, 3).to(memory_format=torch.channels_last)
    assert weight.stride() == (9, 1, 3, 1) and weight.to(torch.float64).stride() == (9, 1, 3, 1)
    assert torch.ones_like(weight).stride() == torch.randint_like(weight, 3).stride() == weight.clone().stride() == (9, 1, 3, 1)
    x = torch.rand(2, 1, 10, 10)
    assert F.conv2d(x, weight).is_contiguous(memory_format=torch.channels_last)
    assert F.conv2d(x, torch.ones(8, 1, 3, 3)).stride() == (512, 64, 8, 1)
    square = torch.ones(16, 16, 1, 1).to(memory_format=torch.channels_last)
    assert F.conv2d(torch.rand(1, 16, 5, 5), square).stride() == (400, 1, 80, 16)


def test_a_volume_without_a_batch_keeps_its_format():
    whole = torch.rand(1, 6, 12, 13, 14).contiguous(memory_format=torch.channels_last_3d)
    x = whole[0].clone().requires_grad_()
    assert x.stride() == (1, 14 * 13 * 6, 14 * 6, 6)
    y, at = F.max_pool3d(x, (5, 6, 7), return_indices=True)
    plain, plain_at = F.max_pool3d(whole[0].contiguous(), (5, 6, 7), return_indices=True)
    assert y.stride() == at.stride() == (1, 4 * 6, 2 * 6, 6) and y.equal(plain) and at.equal(plain_at)
    y.sum().backward()
    assert x.grad.sum().item() == y.numel() and x.grad[x.detach() == y.detach().max()].item() == 1
