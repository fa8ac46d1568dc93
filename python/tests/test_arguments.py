"""How functions take arguments: outputs, sizes, types and numbers of Python's, old orders; and tensors over each other."""
import warnings

import argand as torch
import numpy as np
import pytest

X = torch.arange(1., 10).view(3, 3)


@pytest.mark.parametrize("name, arguments", [
    ("matmul", (X, X)), ("mv", (X, X[0])), ("dot", (X[0], X[1])), ("outer", (X[0], X[1])), ("inner", (X, X)), ("addmv", (X[0], X, X[1])),
    ("addr", (X, X[0], X[1])), ("softmax", (X, 0)), ("log_softmax", (X, 1)), ("hstack", ([X, X],)), ("vstack", ([X, X],)),
    ("diag", (X,)), ("msort", (X,)), ("argsort", (X,)), ("bucketize", (X, X[0])), ("searchsorted", (X[0], X)), ("isin", (X, X[0])),
    ("float_power", (X, 2)), ("nanmean", (X,)), ("frexp", (X,)), ("take_along_dim", (X, X.long() % 3, 1)), ("cross", (X, X + 1, 1))])
def test_outputs(name, arguments):
    function = getattr(torch, name)
    expected = function(*arguments)
    several = isinstance(expected, tuple)
    out = tuple(torch.empty_like(e) for e in expected) if several else torch.empty(0, dtype=expected.dtype)
    given = function(*arguments, out=out)
    assert (given[0] is out[0]) if several else given is out
    assert all(torch.equal(e, o) for e, o in zip(expected, out)) if several else torch.equal(expected, out)


def test_random_outputs():
    out = torch.empty(3)
    assert torch.bernoulli(torch.ones(3), out=out) is out and out.tolist() == [1, 1, 1]
    assert torch.normal(torch.tensor([1., 2, 3]), 0, out=out).tolist() == [1, 2, 3]


def test_outputs_in_lists():
    parts = torch.empty(1, 3), torch.empty(2, 3)
    torch.split_with_sizes_copy(X, (1, 2), out=parts)
    assert torch.equal(torch.cat(parts), X)
    with pytest.raises(RuntimeError, match="expected 2 tensors in out, got 1"):
        torch.split_copy(X, 2, out=parts[:1])


def test_types_of_python():
    assert torch.rand(2, dtype=float).dtype is torch.float64 and torch.zeros(2, dtype=complex).dtype is torch.complex128
    assert torch.ones(2, dtype=int).dtype is torch.int64 and torch.ones(2, dtype=bool).dtype is torch.bool


def test_sizes():
    assert torch.randint(3, 5, ()).dim() == 0 and torch.ones((np.array(2), np.int64(3))).shape == (2, 3)
    assert torch.block_diag().shape == (1, 0)
    for call in (lambda: torch.ones((2, (3,))), lambda: torch.ones(np.array(2.)), lambda: X.__delitem__(0)):
        with pytest.raises(TypeError):
            call()


def test_numbers_of_tensors_without_a_graph_alone():
    x = torch.rand(2)
    assert torch.isclose(x, x, torch.tensor(1.), torch.tensor(1)).all()
    with pytest.raises(TypeError):
        torch.isclose(x, x, torch.tensor(1.), torch.tensor(1., requires_grad=True))
    assert x.copy_(0.5).tolist() == [0.5, 0.5]
    z = torch.tensor([1 + 2j])
    z.real, z.imag = 0, torch.tensor(5)
    assert z.tolist() == [5j]


def test_orders_of_old_programs_are_deprecated():
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="This overload of addcmul is deprecated"):
            assert torch.addcmul(X, 2, X, X).equal(X + 2 * X * X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert X.all() and torch.add(X, X, alpha=2).equal(3 * X)
    finally:
        torch.set_warn_always(False)


@pytest.mark.parametrize("write", [
    lambda y: y[1:5].copy_(y[:4]), lambda y: y[1:5].add_(y[:4]), lambda y: torch.exp(y[:4], out=y[1:5]),
    lambda y: y.index_add_(0, torch.tensor([1]), y[:1]), lambda y: y.scatter_(0, torch.tensor([1, 2]), y)])
def test_what_is_read_is_not_written_at_once(write):
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        write(torch.rand(8))


def test_what_is_the_same_may_be_written():
    y = torch.arange(4.)
    y[1:].add_(y[1:])
    torch.exp(y[:2], out=y[:2])
    y[::2].copy_(y[1::2])
    assert torch.zeros(1).expand(4).fill_(3).tolist() == [3, 3, 3, 3]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.zeros(1).expand(4).add_(1)


def test_views_of_copies_are_none():
    t = torch.ones(2, 3).t()
    assert not t.flatten()._is_view() and t.contiguous().flatten()._is_view()
    assert torch.ones(10)[::2].ravel().stride() == (1,) and torch.rand(5).expand(1, 1, 5).stride() == (5, 5, 1)


def test_memory_that_nobody_has_set_is_found_out():
    assert torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3).isnan().all() and torch.empty_strided((2,), (3,), dtype=torch.int8).tolist() == [127, 127]
        assert torch.zeros(2).resize_(4)[2:].isnan().all() and torch.empty_like(torch.zeros(2, dtype=torch.bool)).all()
        torch.utils.deterministic.fill_uninitialized_memory = False
        assert not torch._C._fills_uninitialized()
    finally:
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = True
    assert not torch._C._fills_uninitialized()


def test_adding_to_few_rows_of_many_takes_memory_for_few():
    import resource
    t = torch.zeros(1 << 26, dtype=torch.int8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    t.index_put_((torch.tensor([-2, 0, -2]),), torch.tensor([1, 2, 3], dtype=torch.int8), accumulate=True)
    assert (t[0].item(), t[-2].item()) == (2, 4)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17  # KiB; 16 bytes a row were a GiB


def test_indices_of_a_wrong_kind():
    with pytest.raises(IndexError, match="must be long, int, byte or bool tensors"):
        X[torch.tensor([0.])]
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        torch.rand(()).index_put([], torch.ones(1), True)
    for indices, shape, text in ((torch.tensor(0.5), (2, 2), "integer dtype"), (torch.tensor(0), (2, 2.), "only contain ints")):
        with pytest.raises(TypeError, match=text):
            torch.unravel_index(indices, shape)


def test_sequences_keep_the_shape_of_their_output():
    x = torch.zeros(2, 3)
    for made in (torch.arange(0, 4, out=x[:, 1:]), torch.linspace(0, 3, 4, out=x[:, 1:])):
        assert made.shape == (2, 2) and x.tolist() == [[0, 0, 1], [0, 2, 3]]
    assert torch.linspace(0, 2j, 3).tolist() == [0, 1j, 2j] and torch.logspace(0, 0j, 1, dtype=torch.complex64).tolist() == [1]
    with pytest.raises(RuntimeError, match="can't be safely cast to passed dtype float32"):
        torch.linspace(0, 1j, 3, dtype=torch.float32)


def test_numbers_in_sequences():
    assert torch.tensor([torch.tensor([1]), torch.tensor(2)]).tolist() == [1, 2]
    assert torch.tensor(2**64, dtype=torch.float64).item() == 2.**64 and torch.tensor(((7, np.array(5)), (1, 2))).tolist()[0] == [7, 5]
    with pytest.raises(ValueError, match="expected integers of int64"):
        torch.tensor(2**64)


def test_outputs_lie_as_results_do():
    x = torch.rand(2, 3, 4).permute(2, 0, 1)
    assert torch.exp(x, out=torch.empty(0)).stride() == torch.exp(x).stride() == x.stride()


def test_ranges_of_random_numbers():
    for call, text in ((lambda: torch.rand(2).uniform_(0, 1e39), "to is out of bounds for float32"),
                       (lambda: torch.randperm(2**11 + 2, dtype=torch.float16), "n is too large")):
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.warns(UserWarning, match="to - 1 is out of bounds"):
        torch.rand(2).random_(0, 2**30)
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        torch.range(0, 1)


def test_zeros_and_ones_are_of_any_dtype():
    out = torch.empty(0, dtype=torch.int16)
    assert torch.bernoulli(torch.ones(3), out=out).tolist() == [1, 1, 1] and out.dtype is torch.int16
    assert torch.exp(torch.rand(1, 4, 1, 6)[..., :3].contiguous().permute(0, 2, 1, 3), out=torch.empty(0)).shape == (1, 1, 4, 3)


@pytest.mark.parametrize("call, argument, position", [
    (lambda v: torch.bilinear(v, X, X), "input1", 1), (lambda v: torch.bilinear(X, v, X), "input2", 2),
    (lambda v: torch.nn.functional.bilinear(X, X, v), "weight", 3), (lambda v: torch.nn.functional.bilinear(X, X, X, v), "bias", 4),
    (lambda v: torch.conv_tbc(X, v, X), "weight", 2), (lambda v: torch.nn.functional.adaptive_max_pool1d(v, 1), "input", 1),
    (torch.is_complex, "input", 1), (torch.is_floating_point, "input", 1), (torch.is_signed, "input", 1), (torch.numel, "input", 1),
    (torch.is_inference, "input", 1), (torch.get_device, "input", 1), (lambda v: X.clone().map_(v, max), "tensor", 1),
    (lambda v: X.clone().map2_(X, v, max), "y", 2)])
def test_what_must_be_a_tensor(call, argument, position):
    for value, kind in ((3, "int"), ("a", "str"), ([1.0], "list")):
        with pytest.raises(TypeError, match=rf"argument '{argument}' \(position {position}\) must be Tensor, not {kind}"):
            call(value)


def test_arguments_of_losses_and_pools():
    with pytest.raises(TypeError, match="'var' .* must be Tensor or float, not int"):
        torch.nn.functional.gaussian_nll_loss(X, X, 3)
    for pool, dims in ((torch.nn.functional.lp_pool1d, 1), (torch.nn.functional.lp_pool2d, 2), (torch.nn.functional.lp_pool3d, 3)):
        with pytest.raises(ValueError, match="norm_type must be a non-zero value, but got 0"):
            pool(torch.ones(1, 1, *[4] * dims), 0, 2)
    with pytest.raises(TypeError, match="expected a tensor type, got 3"):
        torch.set_default_tensor_type(3)


def test_what_is_missing_is_said_by_pytorchs_names():
    for value, name in ((X, "Tensor"), (X.shape, "Size"), (torch.nn.Parameter(X), "Parameter")):
        with pytest.raises(AttributeError, match=f"^'{name}' object has no attribute 'foo'"):
            value.foo
    assert torch.Tensor.__module__ == "argand" and torch.Tensor.__qualname__ == "Tensor"
