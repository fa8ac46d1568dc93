"""Functions that are a few ops: what NumPy says of the same arrays, and PyTorch's signatures of old programs."""
import warnings

import argand as torch
import numpy as np
import pytest

torch.manual_seed(0)
X, Y = torch.randn(4, 5), torch.randn(4, 5)
x, y = X.numpy().copy(), Y.numpy().copy()
GAP = X.clone()
GAP[1, 2] = NAN = float("nan")


def close(got, expected):
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint"])
@pytest.mark.parametrize("q", [0.3, [0.0, 0.5, 0.9]])
@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantile(how, q, dim, keepdim):
    given = torch.tensor(q) if isinstance(q, list) else q
    expected = np.quantile(x.astype(np.float64), np.asarray(q, np.float32).astype(np.float64), dim, method=how, keepdims=keepdim)
    close(torch.quantile(X, given, dim, keepdim, interpolation=how), expected)


def test_quantile_of_what_has_gaps():
    assert torch.quantile(GAP, 0.5, dim=1).isnan().tolist() == [False, True, False, False]
    close(torch.nanquantile(GAP, 0.5, dim=1), np.nanquantile(GAP.numpy(), 0.5, 1))
    assert torch.tensor([1.0, 2.0, 10.0]).quantile(0.7, interpolation="nearest") == 2
    with pytest.raises(RuntimeError, match=r"range \[0, 1\]"):
        torch.quantile(X, 1.5)
    with pytest.raises(RuntimeError, match="float or double"):
        torch.quantile(torch.arange(3), 0.5)


def test_statistics():
    close(torch.cov(X), np.cov(x))
    close(torch.cov(X, correction=0), np.cov(x, ddof=0))
    f, a = [1, 2, 3, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5]
    close(X.cov(fweights=torch.tensor(f), aweights=torch.tensor(a)), np.cov(x, fweights=f, aweights=a))
    close(torch.corrcoef(X), np.corrcoef(x))


def test_integrals():
    close(torch.trapezoid(X, dx=0.5, dim=0), np.trapezoid(x, dx=0.5, axis=0))
    close(torch.trapz(X, torch.arange(5.0) ** 2), np.trapezoid(x, np.arange(5.0) ** 2))
    close(torch.trapezoid(X, Y), np.trapezoid(x, y))
    close(torch.cumulative_trapezoid(X)[:, -1], np.trapezoid(x))


def test_products():
    close(torch.kron(X[:2, :2], Y), np.kron(x[:2, :2], y))
    close(torch.kron(X[0], Y), np.kron(x[0], y))
    close(torch.linalg.cross(X[:, :3], Y[:, :3]), np.cross(x[:, :3], y[:, :3]))
    close(torch.cross(X[:3], Y[:3]), np.cross(x[:3], y[:3], axis=0))
    close(torch.matrix_power(X[:, :4], 3), np.linalg.matrix_power(x[:, :4], 3))
    close(torch.linalg.matrix_power(X[:, :4], 0), np.eye(4))
    for order in ("fro", 1, -1, np.inf, -np.inf):
        close(torch.linalg.matrix_norm(X, order), np.linalg.norm(x, order))
    close(torch.renorm(X, 2, 0, 1.0).norm(dim=1), np.minimum(np.linalg.norm(x, axis=1), 1))
    close(torch.pdist(X), [np.linalg.norm(x[i] - x[j]) for i in range(4) for j in range(i + 1, 4)])
    with pytest.raises(RuntimeError, match="no dimension of size 3"):
        torch.cross(X, Y)


def test_dimensions():
    assert X[None].movedim(0, -1).shape == torch.moveaxis(X[None], (0,), (2,)).shape == (4, 5, 1)
    close(torch.hsplit(X, [1, 3])[1], np.hsplit(x, [1, 3])[1])
    close(torch.vsplit(X, 2)[1], np.vsplit(x, 2)[1])
    with pytest.raises(RuntimeError, match="vsplit requires"):
        torch.vsplit(X[0], 2)
    close(torch.diagflat(X[:2, :2], 1), np.diagflat(x[:2, :2], 1))
    assert [t.tolist() for t in torch.unravel_index(torch.tensor([3, 7]), (2, 5))] == [[0, 1], [3, 2]]
    assert torch.combinations(torch.arange(3)).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert torch.combinations(torch.arange(2), with_replacement=True).tolist() == [[0, 0], [0, 1], [1, 1]]
    for shape, wrap in (((3, 5), False), ((7, 3), True), ((7, 3), False), ((3, 3), True)):
        expected = np.zeros(shape)
        np.fill_diagonal(expected, 2, wrap)
        close(torch.zeros(shape).fill_diagonal_(2, wrap), expected)
        close(torch.zeros(shape[::-1]).t().fill_diagonal_(2, wrap), expected)
    changed = torch.select_scatter(X, torch.zeros(5), 0, 1)
    assert changed[1].tolist() == [0] * 5 and X[1, 0] != 0
    assert torch.slice_scatter(X, torch.zeros(4, 2), 1, 0, 4, 2)[:, ::2].abs().sum(0)[:2].tolist() == [0, 0]
    assert X.diagonal_scatter(torch.ones(4)).diagonal().tolist() == [1] * 4


def test_windows_and_ranges():
    close(torch.hann_window(7, False), np.hanning(7))
    close(torch.hamming_window(7, periodic=False), np.hamming(7))
    close(torch.blackman_window(9, False), np.blackman(9))
    assert torch.hann_window(4).tolist() == pytest.approx([0, 0.5, 1, 0.5], abs=1e-6)
    assert torch.range(0, 3).tolist() == [0, 1, 2, 3] and torch.range(1, 2, 0.25).tolist() == [1, 1.25, 1.5, 1.75, 2]


def test_numbers_before_tensors():
    close(torch.add(2, X), 2 + x)
    close(torch.sub(1, X, alpha=2), 1 - 2 * x)
    close(torch.div(1, X), 1 / x)
    assert torch.mul(2, torch.tensor([3])).tolist() == [6] and torch.floor_divide(7, torch.tensor([2, 3])).tolist() == [3, 2]
    assert torch.div(5, torch.tensor([2, -2]), rounding_mode="floor").tolist() == [2, -3]
    assert torch.add(1, 2) == 3
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.eq(2.0, X)


def test_old_orders_of_arguments():
    a, b = X[:, :4], Y[:, :4]
    close(torch.add(X, 2, Y), x + 2 * y)
    close(X.clone().sub_(3, Y), x - 3 * y)
    close(X.clone().addcmul_(0.5, Y, Y), x + 0.5 * y * y)
    close(X.addcdiv(0.5, Y, Y), x + 0.5)
    close(torch.addmm(2, a, 3, a, b), 2 * x[:, :4] + 3 * x[:, :4] @ y[:, :4])
    close(a.addmm(2, 3, a, b), 2 * x[:, :4] + 3 * x[:, :4] @ y[:, :4])
    close(torch.addmm(2, a, a, b), 2 * x[:, :4] + x[:, :4] @ y[:, :4])
    close(torch.addr(2, X, 0.5, X[:, 0], Y[0]), 2 * x + 0.5 * np.outer(x[:, 0], y[0]))
    # Messages name the signatures of today alone.
    with pytest.raises(TypeError, match=r"^add\(\) takes 1 positional argument but 3 were given$"):
        X.add(1, 2, 3)
    assert "alpha=1" in torch.add.__doc__ and torch.add.__doc__.count("add(") == 1


def test_elements_that_meet():
    at, src = torch.tensor([0, 0, 2]), torch.tensor([3.0, 4.0, 5.0])
    whole = torch.tensor([1.0, 2.0, 3.0])
    for reduce, expected in (("sum", [8, 2, 8]), ("prod", [12, 2, 15]), ("mean", [8 / 3, 2, 4]), ("amax", [4, 2, 5]),
                             ("amin", [1, 2, 3])):
        close(whole.scatter_reduce(0, at, src, reduce), expected)
    close(whole.scatter_reduce(0, at, src, "mean", include_self=False), [3.5, 2, 5])
    close(whole.scatter(0, at, src, reduce="multiply"), [12, 2, 15])
    close(whole.clone().scatter_(0, at, 2.0, reduce="add"), [5, 2, 5])
    close(whole.index_reduce(0, at, src, "amax"), [4, 2, 5])


def test_tensors_one_by_one_and_in_a_list():
    a, b = torch.arange(2), torch.arange(3)
    for call in (torch.block_diag, torch.cartesian_prod, torch.broadcast_tensors):
        given = (a, b) if call is not torch.broadcast_tensors else (a, X[:, :1])
        for one, other in zip(call(*given), call(given)):
            assert torch.equal(one, other)
    assert [t.shape for t in torch.atleast_2d(a, b)] == [(1, 2), (1, 3)] and torch.atleast_2d(a).shape == (1, 2)
    close(torch.einsum("ij,kj->ik", X, Y), torch.einsum("ij,kj->ik", [X, Y]).numpy())
    close(torch.einsum("ij->ji", X), x.T)
    assert [g.shape for g in torch.meshgrid(a, b, indexing="ij")] == [(2, 3)] * 2
    assert torch.chain_matmul(X, Y.t(), X).shape == (4, 5)


def test_results_into_tensors_that_are_given():
    out = torch.empty(0)
    assert torch.quantile(X, 0.5, dim=1, out=out) is out and out.shape == (4,)
    close(torch.kron(X[:2, :2], Y, out=torch.empty(0)), np.kron(x[:2, :2], y))
    close(torch.linalg.inv(X[:, :4], out=torch.empty(4, 4)), np.linalg.inv(x[:, :4]))
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.diff(X, out=torch.empty(0, dtype=torch.int64))


def test_methods():
    assert X.new(2, 3).shape == (2, 3) and X.int().new([1, 2]).dtype is torch.int32 and X.new().shape == (0,)
    assert X.new(X.shape).shape == X.shape and X.new(X) is not X and X.new(X).data_ptr() == X.data_ptr()
    close(X.where(X > 0, 0.0), np.where(x > 0, x, 0))
    assert X.isreal().all() and not X.is_conj() and X.resolve_conj() is X and X.positive() is X
    torch.set_deterministic_debug_mode("warn")
    assert torch.get_deterministic_debug_mode() == 1 and torch.is_deterministic_algorithms_warn_only_enabled()
    torch.set_deterministic_debug_mode(0)
    assert not torch.are_deterministic_algorithms_enabled()


def test_text_of_several_results():
    assert repr(torch.max(torch.tensor([2.0, 4.0]), 0)) == ("torch.return_types.max(\nvalues=tensor(4.),\nindices=tensor(1))")


def test_numbers_are_vectors_of_one():
    x = torch.tensor(3.0)
    assert x.gather(0, torch.tensor([0, 0])).tolist() == [3.0, 3.0]
    assert torch.quantile(x, torch.tensor([0.1, 0.5]), dim=0, keepdim=True).tolist() == [3.0, 3.0]
    assert torch.nanquantile(x, 0.5, dim=0).item() == 3.0


def test_integers_and_too_few_observations():
    close(torch.cov(torch.tensor([[0, 1, 2], [4, 2, 6]])), np.cov([[0, 1, 2], [4, 2, 6]]))
    assert torch.cov(torch.ones(2, 2), correction=3).isnan().all()
    assert [i.dtype for i in torch.unravel_index(torch.tensor([1, 5], dtype=torch.int8), (2, 3))] == [torch.int64] * 2


@pytest.mark.parametrize("edge", [1, 2])
@pytest.mark.parametrize("spacing", [(), (0.5,), (2.0, 0.5), (np.arange(4.0) ** 2, np.arange(5.0) ** 3)])
def test_gradient(edge, spacing):
    given = [torch.tensor(s) if isinstance(s, np.ndarray) else s for s in spacing]
    expected = np.gradient(x.astype(np.float64), *spacing, edge_order=edge)
    got = torch.gradient(X.double(), **({} if not given else {"spacing": given[0] if len(given) == 1 else given}), edge_order=edge)
    assert isinstance(got, tuple)
    for g, e in zip(got, expected, strict=True):
        close(g, e)
    close(torch.gradient(X, dim=(1,), edge_order=edge)[0], np.gradient(x, axis=1, edge_order=edge))
    close(torch.gradient(X, spacing=2, dim=0, edge_order=edge)[0], np.gradient(x, 2.0, axis=0, edge_order=edge))


@pytest.mark.parametrize("weight", [None, Y])
@pytest.mark.parametrize("density", [False, True])
def test_histogram(weight, density):
    w = None if weight is None else weight.abs().numpy()
    for bins, more in ((5, {}), (4, {"range": (-1.0, 0.5)}), (np.array([-1.0, 0.25, 0.5, 3.0], np.float32), {})):
        counts, edges = np.histogram(x, bins, **more, weights=w, density=density)
        got = X.histogram(torch.tensor(bins) if isinstance(bins, np.ndarray) else bins, **more,
                          weight=None if weight is None else weight.abs(), density=density)
        close(got.hist, counts)
        close(got.bin_edges, edges)
    assert type(got) is torch.return_types.histogram
    assert torch.histogram(GAP, torch.tensor([-9.0, 9.0])).hist.tolist() == [19.0]  # NaN is not counted
    hist, edges = torch.empty(0), torch.empty(0)
    torch.histogram(X, 3, out=(hist, edges))
    assert hist.sum() == 20 and edges.shape == (4,)


@pytest.mark.parametrize("density", [False, True])
def test_histogramdd(density):
    for bins in ([2, 3], 4, [np.array([-1.0, 0.0, 2.0]), np.array([-2.0, 0.5, 0.75])]):
        given = [torch.tensor(b) for b in bins] if isinstance(bins, list) and isinstance(bins[0], np.ndarray) else bins
        counts, edges = np.histogramdd(x[:, :2].astype(np.float64), bins, density=density)
        got = torch.histogramdd(X[:, :2].double(), given, density=density)
        assert isinstance(got, torch.return_types.histogramdd) and isinstance(got.bin_edges, tuple)
        close(got.hist, counts)
        for g, e in zip(got.bin_edges, edges, strict=True):
            close(g, e)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        torch.histogramdd(X[0], [2])


@pytest.mark.parametrize("call", [
    "alias()", "as_strided((2, 2), (1, 5), 3)", "detach()", "diagonal(1)", "expand(2, 4, 5)", "narrow(1, 1, 2)", "permute((1, 0))",
    "select(1, 2)", "slice(0, 1, 4, 2)", "split(2)", "split_with_sizes((1, 3))", "squeeze()", "squeeze(0)", "t()", "transpose(0, 1)",
    "unbind(1)", "unfold(1, 2, 2)", "unsqueeze(1)", "view((20,))", "view(torch.int32)"])
def test_copies_of_views(call):
    name, arguments = call[:-1].split("(", 1)
    source = X.clone()
    arguments = eval(f"({arguments},)" if arguments else "()")
    arguments = ((2, 4, 5),) if name == "expand" else arguments
    view = torch.ops.aten.slice(source, *arguments) if name == "slice" else getattr(source, name)(*arguments)
    got = getattr(torch, name + "_copy")(source, *arguments)
    pairs = list(zip(got, view, strict=True)) if isinstance(view, tuple) else [(got, view)]
    for g, v in pairs:
        assert torch.equal(g, v) and g.is_contiguous() and g.dtype is v.dtype
        assert g.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()


def test_copies_of_views_as_others():
    assert torch.view_copy(X.t(), (20,)).tolist() == X.t().reshape(20).tolist()  # no view of these strides
    out = torch.empty(0)
    assert torch.permute_copy(X, (1, 0), out=out) is out and torch.equal(out, X.t())
    leaf = X.clone().requires_grad_()
    (2 * torch.unbind_copy(leaf)[1]).sum().backward()
    assert leaf.grad.sum(1).tolist() == [0, 10, 0, 0] and not hasattr(leaf, "unbind_copy")
    assert torch.equal(torch.view_as_complex_copy(torch.view_as_real_copy(X + 1j)), X + 1j)
    assert torch.equal(leaf.narrow_copy(0, 1, 2), X[1:3])


def test_tensors_of_given_layout():
    made = torch.empty_permuted((2, 3, 4), (2, 0, 1), dtype=torch.float64)
    assert made.stride() == (3, 1, 6) and made.dtype is torch.float64
    assert X.new_empty_strided((2, 3), (1, 4), dtype=torch.int8).stride() == (1, 4)
    leaf, value = X.clone().requires_grad_(), torch.tensor(3.0, requires_grad=True)
    filled = torch.fill(leaf, value)
    filled.sum().backward()
    assert filled.unique().tolist() == [3.0] and not leaf.grad.any() and value.grad == 20
    assert torch.fill(X.t(), 2).stride() == X.t().stride() and not hasattr(X, "fill")
    places = torch.nonzero_static(torch.tensor([[0, 2], [3, 0]]), size=3, fill_value=7)
    assert places.tolist() == [[0, 1], [1, 0], [7, 7]] and torch.nonzero_static(X, size=2).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("reduce, expected, grad", [
    ("sum", [1, 0, 14], [1, 1, 1, 1, 1, 1]), ("mean", [0.5, NAN, 3.5], [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]),
    ("max", [1, -np.inf, 5], [0, 1, 0, 0, 0, 1]), ("min", [0, np.inf, 2], [1, 0, 1, 0, 0, 0]),
    ("prod", [0, 1, 120], [1, 0, 60, 40, 30, 24])])
def test_segment_reduce(reduce, expected, grad):
    data = torch.arange(6.0).requires_grad_()
    got = torch.segment_reduce(data, reduce, lengths=torch.tensor([2, 0, 4]))
    close(got.detach(), expected)
    got.sum().backward()
    close(data.grad, grad)
    rows = torch.stack([data.detach(), data.detach()], 0)
    cut = torch._segment_reduce(rows, reduce, offsets=torch.tensor([[0, 2, 6], [0, 2, 6]]), axis=1, initial=4)
    close(cut[1], torch._segment_reduce(rows.t().contiguous(), reduce, lengths=torch.tensor([2, 4]), initial=4)[:, 1].numpy())


@pytest.mark.parametrize("n", [12, 3000])
def test_results_into_strided_tensors(n):
    """What lies between the elements of an output is not touched."""
    a = torch.arange(n).flip(0) * 7 % n
    values, order = torch.sort(a[:n // 2], stable=True)
    for vs, ks in ((2, 1), (1, 2), (2, 2)):
        whole, places = torch.full((n,), -1), torch.full((n,), -1)
        v, k = whole[:n // 2 * vs:vs], places[:n // 2 * ks:ks]
        torch.sort(a[:n // 2], stable=True, dim=0, out=(v, k))
        assert v.equal(values) and k.equal(order)
        assert (vs == 1 or whole[1::2].eq(-1).all()) and (ks == 1 or places[1::2].eq(-1).all())
    whole, places = torch.zeros(n, dtype=torch.int64), torch.zeros(n, dtype=torch.int64)
    torch.topk(a, 3, out=(whole[::4][:3], places[::4][:3]))
    assert whole[[0, 4, 8]].tolist() == [n - 1, n - 2, n - 3] and a[places[[0, 4, 8]]].equal(whole[[0, 4, 8]]) and whole.ne(0).sum() <= 3
    m = torch.rand(4, 6)
    for f in (torch.sort, torch.cummax, torch.cummin):
        v, k = torch.zeros(6, 4).t(), torch.zeros(6, 4, dtype=torch.int64).t()
        f(m, dim=1, out=(v, k))
        assert v.equal(f(m, dim=1)[0]) and m.gather(1, k).equal(v)


def test_an_output_with_elements_that_is_resized_warns():
    for call, shape in ((lambda out: torch.add(torch.ones(5), 1, out=out), [5]), (lambda out: torch.cumsum(torch.ones(5), 0, out=out), [5]),
                        (lambda out: torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=out), [2, 2]),
                        (lambda out: torch.sort(torch.ones(5), out=(out, torch.zeros(5, dtype=torch.int64))), [5])):
        out = torch.zeros(3)
        with pytest.warns(UserWarning, match=r"output with one or more elements was resized since it had shape \[3\]"):
            call(out)
        assert list(out.shape) == shape
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(torch.empty(0))
            call(out)


def test_arguments_that_pytorch_takes():
    """Values are PyTorch 2.15's, but for zeta(inf, 2), whose limit is 0 (NaN there)."""
    assert torch.equal(torch.ones(2), torch.ones(2, dtype=torch.int16)) and not torch.equal(torch.ones(2), torch.zeros(2).long())
    assert torch.any(torch.ones(2), keepdim=True).tolist() == [True] and torch.all(torch.zeros(2, 2), keepdim=True).tolist() == [[False]]
    assert torch.where(torch.tensor([1, 0], dtype=torch.uint8), 1.0, 2.0).tolist() == [1, 2]
    three = torch.tensor([3])
    assert torch.bitwise_and(1, three).tolist() == [1] and torch.bitwise_xor(1, three).tolist() == [2]
    assert torch.bitwise_left_shift(1, three).tolist() == [8] and torch.bitwise_right_shift(16, three).tolist() == [2]
    inf = torch.tensor(float("inf"))
    assert torch.special.zeta(inf, torch.tensor([1e-5, 0.5, 1, 2, -1.5])).tolist() == [float("inf"), float("inf"), 1, 0, float("inf")]
    assert torch.special.hermite_polynomial_h(torch.tensor(1.5), torch.tensor(2**31)).isnan()
    assert torch.special.hermite_polynomial_he(torch.tensor([1.5]), torch.tensor([2])).tolist() == [1.25]


@pytest.mark.parametrize("reduce, grad", [("max", [0, 0.5, 0.5, 1, 1]), ("min", [0, 0.5, 0.5, 1, 1]),
                                          ("mean", [1 / 3, 1 / 3, 1 / 3, 1, 1])])
def test_nans_of_a_segment_share_its_gradient(reduce, grad):
    nan = float("nan")
    data = torch.tensor([1, nan, nan, nan, 2.0], requires_grad=True)
    torch.segment_reduce(data, reduce, lengths=torch.tensor([3, 1, 1])).sum().backward()
    assert torch.allclose(data.grad, torch.tensor(grad))


def test_the_gradient_of_a_product_by_its_nan_is_that_of_the_others():
    data = torch.tensor([2.0, float("nan"), 3.0, 4.0], requires_grad=True)
    torch.segment_reduce(data, "prod", lengths=torch.tensor([3, 1])).sum().backward()
    assert data.grad[1] == 6 and data.grad[3] == 1 and data.grad[[0, 2]].isnan().all()


def test_cdist_by_a_product():
    torch.manual_seed(1)
    a, b = torch.randn(30, 4, dtype=torch.float64), torch.randn(28, 4, dtype=torch.float64)
    exact = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
    assert torch.allclose(torch.cdist(a, b), exact, 1e-12, 1e-12)
    assert torch.allclose(torch.cdist(a[:3], b[:3], compute_mode="use_mm_for_euclid_dist"), exact[:3, :3], 1e-12, 1e-12)
    half = torch.cdist(a.half(), b.half())
    assert half.dtype == torch.float16 and torch.allclose(half.double(), exact, 5e-3, 5e-3)
    a[3, 1] = float("nan")
    assert torch.cdist(a, b).isnan().any(1).nonzero().flatten().tolist() == [3] and torch.cdist(a, b)[3].isnan().all()
    same = torch.tensor([[1.0, 2.0]]).repeat(30, 1).requires_grad_()
    torch.cdist(same, same).sum().backward()
    assert not same.grad.any()
