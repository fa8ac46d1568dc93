"""What nn.functional writes in ops itself: gradients against differences, and identities."""
import math
import subprocess
import sys

import pytest

import argand as torch
import argand.nn as nn
import argand.nn.functional as F
from argand.autograd import gradcheck


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def needs(*names):
    absent = [n for n in names if not hasattr(torch._C, n)]
    return pytest.mark.skipif(bool(absent), reason=f"the ops are absent: {absent}")


@pytest.mark.parametrize("function, shapes", [
    (F.bilinear, [(2, 3), (2, 4), (5, 3, 4), (5,)]),
    (F.pdist, [(4, 3)]),
    (lambda x: F.lp_pool2d(x, 2, 2), [(1, 2, 4, 4)]),
    (lambda x: F.normalize(x, dim=-1), [(3, 4)]),
    (lambda x, y, v: F.gaussian_nll_loss(x, y, v.abs() + 1, full=True), [(3, 4)] * 3),
    (lambda x, y: F.multilabel_soft_margin_loss(x, y.sigmoid()), [(3, 4)] * 2),
    (lambda a, p, n: F.triplet_margin_with_distance_loss(a, p, n, margin=9.0), [(3, 4)] * 3),
    (lambda x, y, w: F.mse_loss(x, y, weight=w.exp()), [(3, 4)] * 3),
    pytest.param(lambda x: F.local_response_norm(x, 3, alpha=0.5), [(2, 4, 3)], marks=needs("pad")),
])
def test_gradient(function, shapes):
    torch.manual_seed(0)
    assert gradcheck(function, [rand(*s) for s in shapes])


def test_instance_norm_with_running_statistics_has_a_gradient():
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    norm = nn.InstanceNorm1d(3, affine=True, track_running_stats=True).double()
    assert gradcheck(norm, (x,)) and norm(x).requires_grad
    assert not torch.equal(norm.running_mean, torch.zeros(3, dtype=torch.float64))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_padding_by_name(n):
    conv = getattr(F, f"conv{n}d")
    x, w = torch.rand(1, 2, *[5] * n), torch.rand(3, 2, *[3] * n)
    assert conv(x, w, padding="same").equal(conv(x, w, padding=1))
    assert conv(x, w, padding="valid", dilation=2).equal(conv(x, w, dilation=2))
    with pytest.raises(RuntimeError, match=f"conv{n}d: expected a weight of {n + 2} dimensions, got .3, 2."):
        conv(x, torch.rand(3, 2))


def test_output_padding_beyond_the_stride():
    x, w = torch.rand(1, 2, 4), torch.rand(2, 2, 3)
    wide = F.conv_transpose1d(x, w, stride=2, padding=2, output_padding=3, dilation=4)
    assert wide.shape == (1, 2, 14)
    whole = F.conv_transpose1d(x, w, stride=2, dilation=4)  # 15 long: 2 cut off before, and what is left after
    assert torch.allclose(wide[..., :13], whole[..., 2:]) and wide[..., 13:].eq(0).all()


def test_linear_of_a_vector():
    x, w, b = torch.rand(2, 4, 3), torch.rand(3), torch.rand(())
    assert torch.allclose(F.linear(x, w, b), (x * w).sum(-1) + b)


def test_gumbel_softmax():
    torch.manual_seed(0)
    logits = torch.randn(50, 4, requires_grad=True)
    soft = F.gumbel_softmax(logits, tau=0.5)
    assert torch.allclose(soft.sum(-1), torch.ones(50))
    torch.manual_seed(1)
    hard = F.gumbel_softmax(logits, hard=True)
    assert sorted(hard.detach().unique().tolist()) == pytest.approx([0.0, 1.0])
    (hard * torch.arange(4.0)).sum().backward()
    hard_gradient, logits.grad = logits.grad, None
    torch.manual_seed(1)
    (F.gumbel_softmax(logits) * torch.arange(4.0)).sum().backward()
    assert torch.equal(hard_gradient, logits.grad)


def test_embedding_max_norm():
    weight = nn.Parameter(torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]]))
    rows = F.embedding(torch.tensor([0, 1, 0]), weight, max_norm=1.0)
    assert torch.allclose(rows, torch.tensor([[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]]))
    assert weight[2].tolist() == [6.0, 8.0]  # rows that are not looked up stay


def test_clip_grad():
    params = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))]
    params[0].grad, params[1].grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0])
    assert nn.utils.clip_grad_norm_(params, 1.0).item() == pytest.approx(5.0)
    assert params[0].grad.tolist() == pytest.approx([0.6, 0.0]) and params[1].grad.tolist() == pytest.approx([0.8])
    assert nn.utils.clip_grad_norm_(params, 10.0, norm_type=math.inf).item() == pytest.approx(0.8)
    assert params[1].grad.tolist() == pytest.approx([0.8])
    nn.utils.clip_grad_value_(params, 0.5)
    assert params[0].grad.tolist() == [0.5, 0.0]


def test_conv_bn_fusion():
    torch.manual_seed(0)
    for conv, transpose in ((nn.Conv2d(3, 4, 3), False), (nn.ConvTranspose2d(3, 4, 3, bias=False), True)):
        bn = nn.BatchNorm2d(4)
        nn.init.uniform_(bn.weight, 0.5, 2.0)
        x = torch.randn(2, 3, 6, 6)
        bn(conv(x))  # statistics that are not 0 and 1
        conv.eval(), bn.eval()
        fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
        assert torch.allclose(fused(x), bn(conv(x)), atol=1e-5)


def test_initialisers_spread():
    torch.manual_seed(0)
    weight = torch.empty(200, 100)
    assert nn.init.kaiming_normal_(weight).std().item() == pytest.approx(math.sqrt(2 / 100), rel=0.03)
    assert nn.init.xavier_uniform_(weight).std().item() == pytest.approx(math.sqrt(2 / 300), rel=0.03)
    q = nn.init.orthogonal_(weight)
    assert torch.allclose(q.t() @ q, torch.eye(100), atol=1e-5)
    for low, high in ((-2, 2), (1, 5), (-0.1, 0.2), (3, 4)):
        nn.init.trunc_normal_(weight, a=low, b=high)
        assert low <= weight.min() and weight.max() <= high
    q = nn.init.trunc_normal_(torch.empty(20000), a=1.0, b=2.0)  # mean: (phi(1) - phi(2)) / (Phi(2) - Phi(1))
    assert q.mean().item() == pytest.approx(1.3831, abs=0.01)


@needs("_pack_padded_sequence", "_pad_packed_sequence", "pad_sequence")
def test_sequences():
    rnn = nn.utils.rnn
    sequences = [torch.arange(float(n)) + 10 * n for n in (2, 4, 1)]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1] and packed.sorted_indices.tolist() == [1, 0, 2]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
    assert lengths.tolist() == [2, 4, 1] and padded.tolist()[2] == [10.0, -1.0, -1.0, -1.0, -1.0]
    for back, original in zip(rnn.unpack_sequence(packed), sequences):
        assert torch.equal(back, original)


@needs("lstm", "_pack_padded_sequence", "pad_sequence")
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_batch_is_its_sequences(kind):
    torch.manual_seed(0)
    net = getattr(nn, kind)(3, 4, 2, bidirectional=True)
    sequences = [torch.randn(n, 3) for n in (2, 5, 3)]
    output, hidden = net(nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False))
    hidden = hidden[0] if kind == "LSTM" else hidden
    for i, (got, sequence) in enumerate(zip(nn.utils.rnn.unpack_sequence(output), sequences)):
        alone, alone_hidden = net(sequence)
        assert torch.allclose(got, alone, atol=1e-6)
        assert torch.allclose(hidden[:, i], (alone_hidden[0] if kind == "LSTM" else alone_hidden), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_attention_with_dropout_rounds_once(dtype):
    q, k, v = (torch.rand(2, 3, 5, 4).to(dtype) for _ in range(3))
    torch.manual_seed(3)
    half = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5, is_causal=True)
    torch.manual_seed(3)
    whole = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), dropout_p=0.5, is_causal=True)
    assert half.dtype is dtype and half.equal(whole.to(dtype))


@pytest.mark.parametrize("rows", [2, 7, 12, 1000])  # parts of a head, whole ones, whole samples
@pytest.mark.parametrize("mask", [None, "causal", (5, 6), (2, 1, 1, 6), (3, 1, 6), "bool"])
@pytest.mark.parametrize("dropout", [0.0, 0.4, 1.0])
def test_attention_by_rows(rows, mask, dropout):
    """Values and two gradients are those of the way that keeps all weights, also the mask's and with the same draws."""
    torch.manual_seed(0)
    leaves = [torch.randn(2, 3, n, m, dtype=torch.float64, requires_grad=True) for n, m in ((5, 4), (6, 4), (6, 2))]
    given = torch.rand(2, 3, 5, 6) > 0.3 if mask == "bool" else None
    if isinstance(mask, tuple):
        given = torch.randn(mask, dtype=torch.float64, requires_grad=True)
        leaves.append(given)
    results = []
    for attend in (lambda *t: torch._scaled_dot_product_attention_math(*t)[0],
                   lambda *t: torch._scaled_dot_product_attention_by_rows(*t, rows)[0]):
        torch.manual_seed(1)
        out = attend(*leaves[:3], given, dropout, mask == "causal")
        after = torch.rand(1)
        first = torch.autograd.grad(out.square().sum(), leaves, create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), leaves, retain_graph=True)
        with torch.no_grad():
            torch.manual_seed(1)
            again = attend(*leaves[:3], given, dropout, mask == "causal")
        results.append((out, after, again, *torch.autograd.grad(out.square().sum(), leaves, retain_graph=True), *first, *second))
    for expected, got in zip(*results):
        torch.testing.assert_close(got, expected)


def test_attention_with_dropout_takes_no_quadratic_memory():
    """A gigabyte of weights."""
    script = ("import resource, argand as torch\n"
              "q = torch.randn(1, 1, 16384, 8, requires_grad=True)\n"
              "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
              "out = torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.1, is_causal=True)\n"
              "out.sum().backward()\n"
              "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0 and int(out.stdout) < 800, out


@needs("scaled_dot_product_attention", "pad")
def test_attention_ways_agree():
    torch.manual_seed(0)
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(2, 5, 8)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    with_weights, weights = net(x, x, x, key_padding_mask=padding)
    without, none = net(x, x, x, key_padding_mask=padding, need_weights=False)
    assert none is None and torch.allclose(with_weights, without, atol=1e-6)
    assert weights[1, :, 3:].abs().max() == 0
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    causal, _ = net(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)
    masked, _ = net(x, x, x, attn_mask=mask)
    assert torch.allclose(causal, masked, atol=1e-6)


def test_flex_attention():
    from argand.nn.attention import flex_attention as flex
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 6, 8, requires_grad=True) for _ in range(3))

    def causal(batch, head, i, j):
        return i >= j

    def near(batch, head, i, j):
        return i - j < 3
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    got = flex.flex_attention(q, k, v, block_mask=flex.create_block_mask(causal, None, None, 6, 6))
    torch.testing.assert_close(got, expected)
    both = flex.create_mask(flex.and_masks(causal, near), 1, 1, 6, 6)
    assert torch.equal(both[0, 0], torch.ones(6, 6, dtype=torch.bool).tril().triu(-2))
    assert flex.create_mask(flex.or_masks(causal, near), None, None, 6, 6).all()
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    bias = -slopes[:, None, None] * (torch.arange(6)[:, None] - torch.arange(6)[None, :])
    got, sums = flex.flex_attention(q, k, v, lambda s, b, h, i, j: s - slopes[h] * (i - j), return_lse=True)
    torch.testing.assert_close(got, F.scaled_dot_product_attention(q, k, v, bias))
    torch.testing.assert_close(sums, (q @ k.transpose(-2, -1) / 8**0.5 + bias).logsumexp(-1))
    few = flex.flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    torch.testing.assert_close(few, F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True))
    # A query that sees nothing.
    blind = flex.flex_attention(q, k, v, block_mask=flex.create_block_mask(lambda b, h, i, j: i * 0 + j > 9, 1, 1, 6, 6))
    assert blind.abs().max() == 0
    got.sum().backward()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("padding, expected", [
    ("zeros", [0.068541350278, 0.017062409725, -0.106186123438, 0.111613469215]),
    ("border", [0.278856488863, 0.310193474141, -0.093818948851, 0.760533028835]),
    ("reflection", [0.824820513644, 0.129975469088, -0.755784634365, 0.758523560228])])
def test_bicubic_samples_of_a_volume(padding, expected):
    """PyTorch 2.15's."""
    x = (torch.arange(24, dtype=torch.float64).reshape(1, 1, 2, 3, 4) * 0.7).sin()
    grid = (torch.arange(12, dtype=torch.float64).reshape(1, 2, 2, 1, 3) * 0.9).cos() * 1.2
    got = torch.nn.functional.grid_sample(x, grid, "bicubic", padding, padding == "border")
    assert got.flatten().tolist() == pytest.approx(expected, abs=1e-11)
