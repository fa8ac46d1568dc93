"""The rules by which vmap's batches go through ops give what the ops give for each slice."""
import itertools
import warnings

import argand as torch
import argand.nn.functional as F
import pytest
from argand import func

SIZE = 3  # slices


def real(*shape):
    return torch.randn(SIZE, *shape, dtype=torch.float64)


def ints(high, *shape):
    return torch.randint(high, (SIZE, *shape))


def positive_definite(n):
    a = real(n, n)
    return a @ a.mT + n * torch.eye(n, dtype=torch.float64)


# Name: (function, the batch of each argument)
CASES = {
    "add": (torch.add, real(2, 4), real(4)), "mul of numbers": (torch.mul, real(), real(2)), "where": (torch.where, real(2) > 0, real(2), real(4, 2)),
    "clamp": (lambda a, b: a.clamp(b, b + 1), real(3), real()), "lerp": (torch.lerp, real(3), real(3), real()), "pow": (lambda a: 2 ** a, real(3)),
    "dtypes": (lambda a, n: a * n, ints(5, 3), real()), "half": (lambda a, n: a.half() + n.round(), real(3), real()),
    "sum": (lambda a: (a.sum(), a.sum(0), a.sum(-1, keepdim=True), a.sum((0, 1))), real(2, 4)), "mean": (lambda a: a.mean(-1), real(2, 4)),
    "of a number": (lambda a: (a.sum(), a.sum(0), a.cumsum(0), a.softmax(0), a.max(0), a.argmax(), a.squeeze(), a.unsqueeze(-1)), real()),
    "var": (lambda a: (a.var(), a.std(0), torch.var_mean(a, -1)), real(2, 4)), "amax": (lambda a: (a.amax(), a.amin(1), a.max(), a.min()), real(2, 4)),
    "argmax": (lambda a: (a.argmax(), a.argmin(1, keepdim=True), a.argmax(keepdim=True)), real(2, 4)), "prod": (lambda a: (a.prod(), a.prod(1)), real(2, 4)),
    "norm": (lambda a: (a.norm(), torch.linalg.vector_norm(a, 3, 0)), real(2, 4)), "any": (lambda a: ((a > 0).any(), (a > 0).all(1)), real(2, 4)),
    "median": (lambda a: (a.median(), a.median(0), a.kthvalue(1), a.mode(1)), real(3, 5)), "sort": (lambda a: (a.sort(0), a.topk(2), a.argsort()), real(3, 5)),
    "cumulative": (lambda a: (a.cumsum(0), a.cumprod(1), a.logcumsumexp(1), a.cummax(0)), real(3, 4)),
    "softmax": (lambda a: (a.softmax(0), a.log_softmax(-1), a.logsumexp(0)), real(3, 4)),
    "views": (lambda a: (a.t(), a.permute(1, 0), a.movedim(0, 1), a[1], a[:, 1:3], a[..., None], a.flatten(), a.view(4, -1), a.diagonal(), a.unfold(1, 2, 1),
                         a.expand(2, 2, 4), a.unsqueeze(1).squeeze(1), a.split(1), a.unbind(1), a.chunk(2, 1), a.flip(0), a.roll(1, 1),
                         a.as_strided((2,), (1,))), real(2, 4)),
    "joins": (lambda a, b: (torch.cat([a, b], -1), torch.stack([a, b]), torch.cat([torch.ones(2, 1, dtype=torch.float64), a], 1), torch.hstack((a, b))),
              real(2, 4), real(2, 4)),
    "copies": (lambda a: (a.clone(), a.to(torch.float32), a.contiguous(), torch.zeros_like(a), torch.full_like(a, 2.0), a.new_zeros(3) + a[0, 0]), real(2, 4)),
    "triangles": (lambda a: (a.tril(), a.triu(1), torch.diag_embed(a)), real(3, 3)), "pad": (lambda a: F.pad(a, (1, 2)), real(2, 3)),
    "mm": (torch.mm, real(2, 4), real(4, 3)), "bmm": (torch.bmm, real(2, 3, 4), real(2, 4, 5)), "mv": (torch.mv, real(2, 4), real(4)), "dot": (torch.dot, real(4), real(4)),
    "matmul": (torch.matmul, real(2, 3, 4), real(4)), "addmm": (lambda a, b, c: torch.addmm(c, a, b, beta=2, alpha=3), real(2, 4), real(4, 3), real(3)),
    "baddbmm": (torch.baddbmm, real(2, 3, 5), real(2, 3, 4), real(2, 4, 5)), "einsum": (lambda a, b: torch.einsum("ij,kj->ik", a, b), real(2, 4), real(3, 4)),
    "linear": (F.linear, real(2, 4), real(5, 4), real(5)), "linear of vectors": (F.linear, real(4), real(5, 4)),
    "attention": (F.scaled_dot_product_attention, real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 4)),
    "conv1d": (F.conv1d, real(2, 4, 9), real(6, 4, 3), real(6)), "conv2d": (lambda x, w: F.conv2d(x, w, padding=1, stride=2, groups=2), real(2, 4, 6, 5), real(4, 2, 3, 3)),
    "conv_transpose": (F.conv_transpose2d, real(2, 4, 3, 3), real(4, 2, 3, 3)), "conv of images": (F.conv2d, real(4, 6, 5), real(3, 4, 3, 3)),
    "pools": (lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 2), F.adaptive_max_pool2d(x, 2)), real(2, 3, 6, 6)),
    "resampling": (lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(5, 5), mode="bilinear"), F.pixel_shuffle(x, 2)), real(2, 4, 3, 3)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), real(2, 4), real(4), real(4)), "rms_norm": (lambda x, w: F.rms_norm(x, (4,), w), real(2, 4), real(4)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), real(2, 4, 3), real(4), real(4)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), real(5, 4, 3), real(4), real(4)),
    "batch_norm in evaluation": (lambda x, m, v: F.batch_norm(x, m, v.exp()), real(5, 4), real(4), real(4)),
    "losses": (lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y, reduction="none"), F.huber_loss(x, y)), real(4, 3), real(4, 3)),
    "cross_entropy": (lambda x, y: (F.cross_entropy(x, y), F.cross_entropy(x, y, reduction="sum"), F.cross_entropy(x, y, ignore_index=1, label_smoothing=0.1),
                                    F.nll_loss(x, y, reduction="none")), real(4, 5), ints(5, 4)),
    "bce": (lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()), real(4), real(4)),
    "gather": (lambda x, i: x.gather(1, i), real(4, 5), ints(5, 4, 2)), "scatter": (lambda x, i, y: (x.scatter(1, i, y), x.scatter_add(1, i, y)), real(4, 5), ints(5, 4, 1), real(4, 1)),
    "index_select": (lambda x, i: x.index_select(1, i), real(4, 5), ints(5, 2)), "index_add": (lambda x, i, y: x.index_add(0, i, y), real(4, 5), ints(4, 2), real(2, 5)),
    "index_fill": (lambda x, i: x.index_fill(1, i, 2.0), real(4, 5), ints(5, 2)), "take": (lambda x, i: x.take(i), real(4, 5), ints(20, 3)),
    "index": (lambda x, i, j: (x[i], x[:, i], x[i, j], x[:, i, :, j], x[i, :, j]), real(4, 4, 4, 4), ints(4, 2), ints(4, 2)),
    "index_put": (lambda x, i, y: (x.index_put((i,), y), x.clone().index_put_((torch.tensor([0, 1]), i), y[0], accumulate=True)), real(4, 5), ints(4, 2), real(2, 5)[..., :1]),
    "embedding": (lambda i, w: F.embedding(i, w, padding_idx=0), ints(6, 4), real(6, 3)), "one_hot": (lambda i: F.one_hot(i, 6), ints(6, 4)),
    "searchsorted": (lambda s, x: torch.searchsorted(s.cumsum(-1), x), real(5).abs(), real(3)), "masked_fill": (lambda x: x.masked_fill(x > 0, 1.0), real(4)),
    "solve": (lambda a, b: (torch.linalg.solve(a, b), a.inverse(), a.det(), torch.linalg.slogdet(a)), positive_definite(3), real(3, 2)),
    "cholesky": (lambda a: (torch.linalg.cholesky(a), torch.linalg.eigvalsh(a), torch.linalg.svdvals(a)), positive_definite(3)),
    "fft": (lambda x: (torch.fft.rfft(x), torch.fft.fft2(x), torch.fft.irfft(torch.fft.rfft(x, dim=0), dim=0)), real(4, 6)),
    "written": (lambda x, y: (x.clone().add_(y), x.clone().copy_(y), x.clone().fill_(2.0), x.clone().squeeze_().unsqueeze_(0), torch.zeros(2, 4).copy_(x)), real(2, 4), real(4)),
}


def tensors(result):
    return [result] if isinstance(result, torch.Tensor) else [t for part in result for t in tensors(part)]


@pytest.mark.parametrize("name", CASES)
def test_a_batch_gives_what_its_slices_give(name):
    f, *batches = CASES[name]
    for which in itertools.product((True, False), repeat=len(batches)):
        if not any(which):
            continue
        for dim in (0, -1):
            args = [b.movedim(0, dim) if own else b[0] for b, own in zip(batches, which)]
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # an op without a rule
                got = tensors(func.vmap(f, in_dims=tuple(dim if own else None for own in which))(*args))
            slices = [tensors(f(*(b[i] if own else b[0] for b, own in zip(batches, which)))) for i in range(SIZE)]
            for made, *column in zip(got, *slices):
                torch.testing.assert_close(made, torch.stack(column), msg=lambda m: f"{name} {which} {dim}: {m}")


@pytest.mark.parametrize("name", [name for name, (_, *batches) in CASES.items() if batches[0].is_floating_point()])
def test_gradients_of_slices_are_those_of_each(name):
    f, *batches = CASES[name]
    floats = tuple(i for i, b in enumerate(batches) if b.is_floating_point())

    def total(*args):
        parts = [t for t in tensors(f(*args)) if t.is_floating_point() or t.is_complex()]
        return sum((t.abs() if t.is_complex() else t.double().sin()).sum() for t in parts)
    if not torch.is_tensor(total(*(b[0] for b in batches))) or not total(*(b[0].detach().requires_grad_(i in floats) for i, b in enumerate(batches))).requires_grad:
        return  # it gives integers alone
    gradient = func.grad(total, argnums=floats)
    slices = [gradient(*(b[i] for b in batches)) for i in range(SIZE)]
    shared = tuple(0 if i == 0 or i not in floats else None for i in range(len(batches)))
    for dims, args, right in (((0,) * len(batches), batches, slices),
                              (shared, [b if d == 0 else b[0] for b, d in zip(batches, shared)],
                               [gradient(*(b[i] if d == 0 else b[0] for b, d in zip(batches, shared))) for i in range(SIZE)])):
        for made, *column in zip(func.vmap(gradient, dims)(*args), *right):
            torch.testing.assert_close(made, torch.stack(column), msg=lambda m: f"{name} {dims}: {m}")


def test_an_op_without_a_rule_runs_for_each_slice_with_one_warning():
    x = real(6)
    with pytest.warns(UserWarning, match="not yet implemented the batching rule for histc"):
        got = func.vmap(lambda t: torch.histc(t, 4, -2, 2))(x)
    assert torch.equal(got, torch.stack([torch.histc(t, 4, -2, 2) for t in x]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        func.vmap(lambda t: torch.histc(t, 4, -2, 2))(x)


def test_what_differs_in_size_or_is_read_is_refused():
    for f in (torch.nonzero, lambda t: t[t > 0], lambda t: torch.where(t > 0), torch.unique):
        with pytest.raises(RuntimeError, match="dynamic shape"):
            func.vmap(f)(real(4))
    for f in (lambda t: t.item(), lambda t: t if t > 0 else -t):
        with pytest.raises(RuntimeError, match="data-dependent control flow"):
            func.vmap(f)(real())


def test_histories_of_levels_do_not_meet():
    w, x = torch.randn(4, dtype=torch.float64, requires_grad=True), real(4)
    per_sample = func.vmap(func.grad(lambda v, t: (v * t).sin().sum()), (None, 0))
    (outer,) = torch.autograd.grad(per_sample(w, x).square().sum(), w)
    right = torch.autograd.functional.jacobian(lambda v: (v * x).cos() * x, w.detach())
    torch.testing.assert_close(outer, (2 * (w * x).cos() * x)[..., None].mul(right).sum((0, 1)))
    torch.testing.assert_close(func.vmap(func.hessian(lambda t: (t ** 3).sum()))(x), torch.diag_embed(6 * x))
    torch.testing.assert_close(func.jacrev(func.vmap(torch.sin))(x).sum((2, 3)), x.cos())
    torch.testing.assert_close(func.vmap(lambda t: func.jvp(torch.sin, (t,), (t,))[1])(x), x.cos() * x)
    assert not per_sample(w.detach(), x).requires_grad


def test_a_tensor_of_a_function_that_has_returned_is_refused():
    kept = []
    func.vmap(lambda t: kept.append(t) or t)(real(2))
    with pytest.raises(RuntimeError, match="your tensor escaped"):
        kept[0] + 1


def test_chunks_give_the_same():
    x = real(4)
    f = func.vmap(lambda t: (t.sin(), t.sum()), out_dims=(1, 0))
    for chunk in (1, 2, 3, 5):
        for a, b in zip(func.vmap(lambda t: (t.sin(), t.sum()), out_dims=(1, 0), chunk_size=chunk)(x), f(x)):
            assert torch.equal(a, b)
        assert torch.equal(func.jacrev(torch.sin, chunk_size=chunk)(x[0]), torch.diag(x[0].cos()))


@pytest.mark.parametrize("weight", [None, torch.rand(4, dtype=torch.float64)])
@pytest.mark.parametrize("norm", [lambda t, w: F.layer_norm(t, (4,), w), lambda t, w: F.rms_norm(t, (4,), w)])
def test_second_derivatives_of_ops_that_leave_results_out(norm, weight):
    def f(t):
        return norm(t, weight).pow(3).sum()
    x = real(4)[0]
    right = torch.autograd.functional.hessian(f, x)
    torch.testing.assert_close(func.jacrev(func.jacrev(f))(x), right)
    torch.testing.assert_close(func.hessian(f)(x), right)
