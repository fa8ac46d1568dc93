"""Layouts that results of functions of networks have, and what they do at the edge: empty, padded, out of range."""
import pytest

import argand as torch
import argand.nn.functional as F
from argand import nn

LAST = torch.channels_last


@pytest.mark.parametrize("function", [
    lambda x: F.interpolate(x, size=(3, 4)), lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    lambda x: F.interpolate(x, size=(3, 4), mode="bicubic", antialias=True), lambda x: F.pad(x, (1, 0, 2, 1)),
    lambda x: F.pad(x, (1, 0, 2, 1), mode="reflect"), lambda x: F.pixel_shuffle(x, 2), lambda x: F.pixel_unshuffle(x, 2),
    lambda x: F.channel_shuffle(x, 2), lambda x: F.group_norm(x, 2), lambda x: F.max_pool2d(x, 2),
    lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)])
@pytest.mark.parametrize("gaps", [False, True])
def test_channels_stay_last(function, gaps):
    x = torch.randn(2, 16, 6, 8)[:, ::2] if gaps else torch.randn(2, 8, 6, 8)
    x = x.contiguous()
    y = torch.randn(2, 16, 6, 8).to(memory_format=LAST)[:, ::2].copy_(x) if gaps else x.to(memory_format=LAST)
    assert y.is_contiguous(memory_format=LAST) is not gaps
    a, b = x.clone().requires_grad_(), y.detach().requires_grad_()
    expected, found = function(a), function(b)
    assert found.is_contiguous(memory_format=LAST) and torch.allclose(expected, found, atol=1e-6) and expected.is_contiguous()
    expected.square().sum().backward()
    found.square().sum().backward()
    assert torch.allclose(a.grad, b.grad, atol=1e-4)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_pads_are_copies(mode):
    for amounts in ((0, 0, 0, 0), (0, 0, -1, -1)):
        x = torch.rand(1, 3, 4, 4)
        F.pad(x, amounts, mode=mode).fill_(4)
        assert x.max() < 2


@pytest.mark.parametrize("inner", [1, 2, 127, 128, 129, 257])
@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_softmax_of_columns(function, inner):
    x = torch.randn(5, inner, dtype=torch.float64).requires_grad_()
    y = x.detach().t().contiguous().requires_grad_()
    a, b = function(x, 0), function(y, 1).t()
    g = torch.randn(5, inner, dtype=torch.float64)
    a.backward(g)
    b.backward(g)
    assert torch.allclose(a, b) and torch.allclose(x.grad, y.grad.t())


def test_gradients_that_are_given_get_the_dtype_of_the_output():
    m = nn.Conv2d(1, 1, 1).bfloat16()
    y = m(torch.ones(1, 1, 2, 2, dtype=torch.bfloat16))
    y.backward(torch.ones(1, 1, 2, 2))
    assert m.weight.grad.dtype == torch.bfloat16 and m.weight.grad.item() == 4
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        m(torch.ones(1, 1, 2, 2, dtype=torch.bfloat16)).backward(torch.ones(1, 1, 2, 2, dtype=torch.complex64))


def test_padding_row_gets_no_gradient_even_of_nan():
    table = torch.ones(3, 2, requires_grad=True)
    F.embedding(torch.tensor([0, 1]), table, padding_idx=1).backward(torch.tensor([[1.0, 1], [float("nan")] * 2]))
    assert table.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_empty_bags_have_a_gradient():
    for mode in ("sum", "mean", "max"):
        table = torch.ones(3, 2, requires_grad=True)
        F.embedding_bag(torch.tensor([], dtype=torch.int64), table, torch.tensor([0, 0]), mode=mode).sum().backward()
        assert table.grad.tolist() == [[0, 0]] * 3
    with pytest.raises(IndexError, match="Expected idx >= 0 && idx < num_embeddings but found idx to be 3"):
        F.embedding_bag(torch.tensor([[3]]), table)
    with pytest.raises(RuntimeError, match="padding_idx must be within the number of embeddings"):
        F.embedding_bag(torch.tensor([[1]]), table, padding_idx=-4)


def test_an_element_of_oneself_is_assigned():
    x = torch.arange(6).reshape(2, 3)
    x[1] = x[1][2]
    assert x.tolist() == [[0, 1, 2], [5, 5, 5]]


def test_nearest_samples_give_grids_a_gradient():
    grid = torch.zeros(1, 2, 2, 2, requires_grad=True)
    F.grid_sample(torch.ones(1, 1, 2, 2), grid, mode="nearest", align_corners=False).sum().backward()
    assert grid.grad.abs().sum() == 0


@pytest.mark.parametrize("call, error, message", [
    (lambda: F.fractional_max_pool2d(torch.ones(1, 0, 4, 4), 2, output_size=1), RuntimeError, "Expected input to have non-zero size"),
    (lambda: F.fractional_max_pool2d(torch.ones(1, 4, 4), (), output_size=1), RuntimeError, "kernel_size must either be a single int"),
    (lambda: F.fractional_max_pool2d(torch.ones(1, 4, 4), 2, output_ratio=[0.5] * 3), ValueError, "requires output_ratio to either"),
    (lambda: F.adaptive_avg_pool2d(torch.ones(1, 2, 3, 3, requires_grad=True), 0).sum().backward(), RuntimeError,
     "Expected grad_output to have non-zero size"),
    (lambda: F.max_pool2d(torch.ones(1, 0, 4, 4), 2), RuntimeError, "Expected 3D or 4D .batch mode. tensor with optional 0 dim batch size"),
    (lambda: F.pad(torch.ones(3, 0, 4), (1, 1), mode="replicate"), RuntimeError, "Expected 2D or 3D .batch mode. tensor"),
    (lambda: F.linear(torch.tensor(1.0), torch.ones(1, 1)), RuntimeError, "both arguments to linear need to be at least 1D"),
    (lambda: F.nll_loss(torch.ones(4, 3), torch.ones(4, 2).long()), RuntimeError, "0D or 1D target tensor expected"),
    (lambda: F.nll_loss(torch.ones(4, 3), torch.ones(3).long()), ValueError, "Expected input batch_size"),
    (lambda: F.multi_margin_loss(torch.ones(2, 0), torch.ones(2).long()), RuntimeError, "Expected non-empty vector or matrix"),
    (lambda: F.one_hot(torch.tensor([1]), -2), RuntimeError, "num_classes of at least -1"),
    (lambda: F.interpolate(torch.ones(1, 1, 2), size=[2.5]), TypeError, "expected size to be one of int or Tuple"),
    (lambda: F.affine_grid(torch.ones(2, 3), [1, 1, 2, 2]), ValueError, "Expected a batch of 2D affine matrices of shape Nx2x3"),
    (lambda: F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 10)), RuntimeError,
     r"Calculated padded input size per channel: \(4\). Kernel size: \(10\). Kernel size can't be greater"),
    (lambda: nn.RNNCell(2, 3)(torch.ones(1, 2), torch.ones(1, 4)), RuntimeError, "hidden0 has inconsistent hidden_size: got 4, expected 3"),
    (lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(0, 0), []), RuntimeError, "Cannot pack empty tensors")])
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_is_empty_and_works():
    assert F.adaptive_avg_pool1d(torch.ones(0, 10), 5).shape == (0, 5)
    x = torch.ones(2, 3, 4, 4, requires_grad=True)
    y = F.fractional_max_pool2d(x, 2, output_size=(0, 1))
    y.sum().backward()
    assert y.shape == (2, 3, 0, 1) and x.grad.abs().sum() == 0


def test_names_that_were_missing():
    assert nn.modules.utils._pair(1) == (1, 1) and F.grad is nn.grad and nn.InstanceNorm2d(3)._get_no_batch_dim() == 3
    packed = nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)])
    assert packed.short().data.dtype == torch.int16 and packed.byte().data.dtype == torch.uint8 and packed.char().data.dtype == torch.int8
    n = nn.Sequential(nn.Tanh())
    assert (n * 2)[1] is n[0]
    with pytest.warns(UserWarning, match="See the documentation of affine_grid"):
        F.affine_grid(torch.ones(1, 2, 3), [1, 1, 2, 1], align_corners=True)


@pytest.mark.parametrize("layout", ["first", "last"])
def test_windows_of_max_pooling_that_cover_nothing_but_padding(layout):
    lowest = {torch.float32: -float("inf"), torch.float16: -float("inf"), torch.int64: -2 ** 63, torch.int16: -2 ** 15, torch.uint8: 0}
    for dtype, value in lowest.items():
        x = torch.arange(1, 10).to(dtype).view(1, 1, 3, 3).expand(1, 3, 3, 3)
        x = x.contiguous(memory_format=LAST) if layout == "last" else x.contiguous()
        y, at = F.max_pool2d(x, 2, 1, (1, 1), (4, 1), return_indices=True)
        assert y.shape == (1, 3, 1, 4) and (y == value).all() and (at == -1).all()
        y, at = F.max_pool2d(x, (2, 1), (1, 1), (2, 0), (4, 1), return_indices=True)
        assert y[0, 1].tolist() == [[7, 8, 9], [value] * 3, [1, 2, 3]] and at[0, 2].tolist() == [[6, 7, 8], [-1] * 3, [0, 1, 2]]
    assert F.max_pool1d(torch.ones(1, 1), 2, None, 1, 2).item() == -float("inf")
    assert F.max_pool3d(torch.ones(1, 1, 1, 1), 2, None, 1, 2).item() == -float("inf")
    x = torch.arange(18.0, dtype=torch.float64).view(1, 2, 3, 3)
    x = x.contiguous(memory_format=LAST) if layout == "last" else x
    x.requires_grad_()
    y = F.max_pool2d(x, (2, 1), 1, (2, 0), (4, 1))
    y.backward(torch.ones_like(y))
    assert x.grad[0, 1].tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    pooled = lambda x: F.max_pool2d(x, (2, 1), 1, (2, 0), (4, 1))[:, :, ::2]  # noqa: E731
    assert torch.autograd.gradcheck(pooled, x) and torch.autograd.gradgradcheck(pooled, x)


@pytest.mark.parametrize("sizes", [(2, 1, 3, 4), (1, 2, 2, 3, 1)])
def test_backward_of_affine_grid_may_run_twice(sizes):
    n = len(sizes) - 2
    theta = torch.randn(sizes[0], n, n + 1, dtype=torch.float64, requires_grad=True)
    for align in (False, True):
        grid = F.affine_grid(theta, sizes, align)
        grad = torch.randn_like(grid)
        first, = torch.autograd.grad(grid, theta, grad)
        again, = torch.autograd.grad(grid, theta, grad)
        assert torch.equal(first, again)
        assert torch.autograd.gradcheck(lambda t: F.affine_grid(t, sizes, align), theta)
        assert torch.autograd.gradgradcheck(lambda t: F.affine_grid(t, sizes, align), theta)
    assert F.affine_grid(theta.to("meta"), sizes).shape == (sizes[0], *sizes[2:], n)


@pytest.mark.parametrize("training", (True, False))
def test_synchronized_batch_norm_in_one_process_is_batch_norm(training):
    """On the CPU too, as a model that SyncBatchNorm.convert_sync_batchnorm() made is often tried out there first."""
    x = torch.arange(12.).view(2, 3, 2).square()
    plain, converted = torch.nn.BatchNorm1d(3).train(training), torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm1d(3)).train(training)
    assert plain(x).equal(converted(x)) and plain.running_mean.equal(converted.running_mean)
