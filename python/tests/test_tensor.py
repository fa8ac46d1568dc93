"""Construction, attributes, conversions and operators of tensors."""
import copy
import gc
import math
import pickle
import subprocess
import sys
import weakref

import argand as torch
import numpy as np
import pytest


def test_from_nested_sequences():
    t = torch.tensor([[1, 2], [3, 4]])
    assert t.dtype is torch.int64 and t.shape == (2, 2) and t.tolist() == [[1, 2], [3, 4]]
    assert torch.tensor([1, 2.5]).dtype is torch.float32
    assert torch.tensor([True, False]).dtype is torch.bool
    assert torch.tensor(1 + 2j).dtype is torch.complex64
    assert torch.tensor([]).shape == (0,) and torch.tensor([[], []]).shape == (2, 0)
    assert torch.tensor([torch.tensor(1.5), 2]).tolist() == [1.5, 2.0]
    assert torch.tensor([np.float64(0.5), np.int64(3)]).tolist() == [0.5, 3.0]
    assert torch.tensor(np.arange(6).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert torch.tensor(range(3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("data, message", [([[1, 2], [3]], "expected sequence of length 2 at dim 1"),
                                           ([[1], 2], "expected a sequence of length 1 at dim 1"),
                                           ([1, [2]], "expected a number at dim 1")])
def test_ragged_sequences(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        torch.tensor(data)


def test_what_is_no_number():
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        torch.tensor([1, "a"])
    with pytest.raises(ValueError, match="expected integers of int64"):
        torch.tensor([2**70])


def test_factories():
    assert torch.zeros(2, 3).shape == torch.zeros((2, 3)).shape == torch.zeros(torch.Size([2, 3])).shape == (2, 3)
    assert torch.ones(2, dtype=torch.int32).dtype is torch.int32
    assert torch.full((2,), 7).dtype is torch.int64 and torch.full((2,), 7.0).dtype is torch.float32
    assert torch.arange(2, 8, 3).tolist() == [2, 5] and torch.arange(3).dtype is torch.int64
    assert torch.eye(2).tolist() == [[1, 0], [0, 1]]
    assert torch.randint(0, 10, (5,)).dtype is torch.int64
    assert torch.zeros(2, requires_grad=True).requires_grad
    assert torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert torch.LongTensor([1, 2]).dtype is torch.int64 and isinstance(torch.ones(1), torch.FloatTensor)


def test_random_stream_is_pytorchs():
    torch.manual_seed(0)
    assert torch.rand(3).tolist() == pytest.approx([0.49625658988952637, 0.7682217955589294, 0.08847743272781372], abs=0)
    torch.manual_seed(0)
    assert torch.randn(3).tolist() == pytest.approx([1.5409960746765137, -0.293428897857666, -2.1787893772125244], abs=0)
    torch.manual_seed(0)
    assert torch.randperm(4).tolist() == [0, 1, 3, 2]


def test_normal():
    # PyTorch's mean is that of both parts of a complex number.
    assert torch.empty(3, dtype=torch.complex64).normal_(5, 0).tolist() == [5 + 5j] * 3
    mean = torch.zeros(3, requires_grad=True)
    for drawn in (torch.normal(mean, 1.), torch.normal(0., mean + 1), torch.normal(mean, torch.ones(3))):
        grad, = torch.autograd.grad(drawn.sum(), mean)
        assert grad.tolist() == [0, 0, 0]


def test_generator_and_states():
    g = torch.Generator().manual_seed(5)
    a = torch.rand(4, generator=g)
    assert torch.equal(a, torch.rand(4, generator=torch.Generator().manual_seed(5)))
    state = torch.get_rng_state()
    b = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(b, torch.rand(3))
    with torch.random.fork_rng():
        torch.rand(10)
    c = torch.rand(1)
    torch.set_rng_state(state)
    torch.rand(3)
    assert torch.equal(c, torch.rand(1))


def test_text_is_pytorchs():
    assert repr(torch.tensor([[1.0, 2.5]])) == "tensor([[1.0000, 2.5000]])"
    assert repr(torch.ones(2, requires_grad=True) * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr(torch.float32) == "torch.float32" and repr(torch.Size([1, 2])) == "torch.Size([1, 2])"
    assert repr(torch.device("cuda:1")) == "device(type='cuda', index=1)" and str(torch.device("cuda", 1)) == "cuda:1"
    assert f"{torch.tensor(2.5):.2f}" == "2.50"
    torch.set_printoptions(precision=2)
    try:
        assert repr(torch.tensor([1 / 3])) == "tensor([0.33])"
    finally:
        torch.set_printoptions(profile="default")


def test_one_object_for_one_tensor():
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    assert x.grad is x.grad
    x.note = "kept"
    held = [x]
    assert vars(x) == {"note": "kept"}
    assert held[0].note == "kept"
    ref = weakref.ref(x)
    del x, held
    gc.collect()
    assert ref() is None


def test_operators_with_numbers():
    x = torch.tensor([1.0, 2.0])
    assert (2 - x).tolist() == [1, 0] and (2 / x).tolist() == [2, 1] and (2**x).tolist() == [2, 4]
    assert (x**2).tolist() == [1, 4] and (-x).tolist() == [-1, -2] and (7 // x).tolist() == [7, 3]
    assert (x @ x).item() == 5 and (x % 2).tolist() == [1, 0]
    assert (x > 1).tolist() == [False, True] and (x == None) is False  # noqa: E711
    i = torch.tensor([1, 2])
    assert (i + 1.5).dtype is torch.float32 and (i / 2).tolist() == [0.5, 1.0] and (i << 1).tolist() == [2, 4]
    assert (i & 1).tolist() == [1, 0] and (~torch.tensor([True])).tolist() == [False]
    y = x
    y += 1
    assert y is x and x.tolist() == [2, 3]
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"
    assert np.float32(2) * x is not None and isinstance(np.float64(2) * x, torch.Tensor)


def test_numbers_of_one_element():
    assert int(torch.tensor(3.7)) == 3 and float(torch.tensor(2)) == 2.0 and bool(torch.tensor([1]))
    assert [10, 20, 30][torch.tensor(1)] == 20 and complex(torch.tensor(1j)) == 1j
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(torch.ones(2))


@pytest.mark.parametrize("size, what", [(2, "more than one value"), (0, "no values")])
def test_truth_of_many(size, what):
    with pytest.raises(RuntimeError, match=f"^Boolean value of Tensor with {what} is ambiguous.*got shape .{size}."):
        bool(torch.zeros(size))


def test_matrix_norms():
    m = torch.tensor([[1., -2.], [3., 4.]])
    assert torch.linalg.norm(m, 1) == 6 and torch.linalg.norm(m, -1) == 4
    assert torch.linalg.norm(m, float("inf")) == 7 and torch.linalg.matrix_norm(m, -float("inf"), keepdim=True).shape == (1, 1)
    assert torch.linalg.norm(m, "fro") == torch.linalg.matrix_norm(m) == torch.linalg.norm(m)
    np.testing.assert_allclose(torch.linalg.norm(m, "nuc").item(), np.linalg.norm(m.numpy(), "nuc"), rtol=1e-6)


def test_iteration_and_membership():
    x = torch.arange(4).reshape(2, 2)
    assert [r.tolist() for r in x] == [[0, 1], [2, 3]] and len(x) == 2 and 3 in x and 7 not in x
    a, b = x.unbind()
    assert b.tolist() == [2, 3]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.tensor(1))
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(torch.tensor(1))


def test_numpy_shares_memory():
    t = torch.zeros(2, 3)
    a = t.numpy()
    t.add_(1)
    assert a.tolist() == [[1, 1, 1], [1, 1, 1]]
    a[0, 0] = 5
    assert t[0, 0].item() == 5
    del t
    gc.collect()
    assert a[0, 0] == 5
    b = np.arange(6, dtype=np.float32).reshape(2, 3)
    u = torch.from_numpy(b.T)
    assert u.stride() == (1, 3)
    u *= 2
    assert b[1, 2] == 10
    assert np.asarray(u).dtype == np.float32 and np.sum(u.detach().numpy()) == 30
    with pytest.raises(RuntimeError, match="requires grad. Use tensor.detach"):
        torch.ones(1, requires_grad=True).numpy()
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="can't convert an array of type"):
        torch.from_numpy(np.array(["a"]))


def test_what_the_default_device_is_for():
    a, data, x = np.arange(3.0), torch.utils.data, torch.ones(2, 3)
    torch.set_default_device("meta")
    try:
        here = (torch.from_numpy(a), torch.frombuffer(a, dtype=torch.float64), torch.from_dlpack(a), torch.get_rng_state(), torch.FloatTensor([1.0]),
                torch.Tensor(2), x.new_zeros(1), torch.zeros_like(x), torch.nn.utils.rnn.pack_padded_sequence(x, [2, 1, 1]).batch_sizes,
                next(iter(data.DataLoader(data.TensorDataset(x), shuffle=True)))[0])
        there = (torch.as_tensor(a), torch.tensor(a), torch.asarray(a), torch.tensor(x), torch.as_tensor(x), torch.zeros(1), torch.hann_window(3),
                 torch.randperm(3), torch.nn.Linear(2, 2).weight, torch.nn.BatchNorm1d(2).running_mean)
    finally:
        torch.set_default_device(None)
    assert {t.device.type for t in here} == {"cpu"} and {t.device.type for t in there} == {"meta"}
    assert [t.tolist() for t in here[:3]] == [[0, 1, 2]] * 3
    assert torch.as_tensor(there[0]).device.type == "meta"


def test_functions_and_operators_of_numpy_give_tensors():
    x, a = torch.ones(2), np.full(2, 3.0)
    for result in (x + a, x * a, x @ a, np.add(x, a), np.maximum(x, a), np.sin(x), np.power(x, 2), np.argmax(x), np.add.reduce(x), np.clip(x, 0, 1)):
        assert isinstance(result, torch.Tensor)
    assert (x + a).tolist() == [4, 4] and (x + a).dtype == torch.float64 and np.argmax(x).shape == ()
    assert (x + a.astype(np.float32)).dtype == torch.float32
    x += a
    assert isinstance(x, torch.Tensor)
    nan = np.isnan(torch.tensor([1.0, float("nan")]))
    assert isinstance(nan, torch.Tensor) and nan.tolist() == [False, True]
    assert (torch.tensor([3.0, 1.0]) == a).tolist() == [True, False] and (a == torch.tensor([3, 1])).tolist() == [True, False]
    assert (torch.tensor([3.0, 1.0]) != a).tolist() == [False, True] and (torch.ones(2) == np.ones((2, 2))).shape == (2, 2)
    assert (torch.ones(2) == np.array(["a", "b"])) is False
    with pytest.raises(RuntimeError, match="do not broadcast"):
        torch.ones(2) == np.ones(3)
    with pytest.raises(TypeError):
        a + torch.ones(2)  # as in PyTorch: NumPy leaves it to the tensor, which takes no arrays
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(2, requires_grad=True) + a


def test_dlpack_shares_memory():
    t = torch.arange(6).reshape(2, 3).t()
    a = np.from_dlpack(t)
    assert a.tolist() == t.tolist()
    t[0, 0] = 7
    assert a[0, 0] == 7
    b = np.arange(4.0)
    u = torch.from_dlpack(b)
    u += 1
    del u
    gc.collect()
    assert b.tolist() == [1, 2, 3, 4]
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(torch.ones(1, requires_grad=True))
    capsule = torch.ones(1).__dlpack__()
    torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)


def test_to():
    x = torch.ones(2)
    assert x.to(torch.float32) is x and x.to("cpu") is x and x.to(torch.float64).dtype is torch.float64
    assert x.to("cpu", torch.int32).dtype is torch.int32 and x.to(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8
    assert x.to(device="cpu", dtype=torch.half, copy=True).dtype is torch.float16
    assert x.double().dtype is torch.float64 and x.type() == "torch.FloatTensor"
    assert x.type(torch.int64).dtype is torch.int64 and x.type("torch.DoubleTensor").dtype is torch.float64
    assert x.cpu() is x and x.get_device() == -1 and not x.is_cuda


def test_views_and_shapes():
    x = torch.arange(6)
    assert x.view(2, 3).shape == x.view((2, 3)).shape == x.reshape(2, -1).shape == (2, 3)
    assert x.view(2, 3).permute(1, 0).T.shape == (2, 3) and x.view(3, 2).t().is_contiguous() is False
    assert x.view(2, 3).size(-1) == 3 and x.shape.numel() == 6 and isinstance(x.shape[:1], torch.Size)
    assert [p.tolist() for p in x.split(4)] == [[0, 1, 2, 3], [4, 5]] and [len(p) for p in x.split([1, 5])] == [1, 5]
    assert x.view(1, 6).expand(2, -1).stride() == (0, 1) and x.flip(0).tolist() == [5, 4, 3, 2, 1, 0]


def test_named_results():
    out = torch.tensor([[1, 5], [7, 2]]).max(dim=1)
    assert out.values.tolist() == [5, 7] and out.indices.tolist() == [1, 0]
    values, indices = torch.sort(torch.tensor([3, 1, 2]))
    assert values.tolist() == [1, 2, 3] and indices.tolist() == [1, 2, 0]
    assert type(out).__name__ == "max"


def test_out_argument():
    out = torch.empty(2)
    assert torch.add(torch.ones(2), 1, out=out) is out and out.tolist() == [2, 2]
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    torch.max(torch.tensor([[1.0, 2.0], [4.0, 3.0]]), 1, out=(values, indices))
    assert values.tolist() == [2, 4] and indices.tolist() == [1, 0]


@pytest.mark.parametrize("call, message", [
    (lambda x: torch.add(x, "a"), r"add\(\): argument 'other' \(position 2\) must be Tensor or Number, not str"),
    (lambda x: x.add("a"), r"add\(\): argument 'other' \(position 1\) must be"),
    (lambda x: torch.mm(x), r'mm\(\) missing 1 required positional arguments: "mat2"'),
    (lambda x: torch.mm(x, x, x), r"mm\(\) takes 2 positional arguments but 3 were given"),
    (lambda x: x.relu(1), r"relu\(\) takes 0 positional arguments but 1 was given"),
    (lambda x: torch.relu(x, foo=1), r"relu\(\) got an unexpected keyword argument 'foo'"),
    (lambda x: torch.relu(x, input=x), r"got multiple values for argument 'input'"),
    (lambda x: x.permute(0, "a"), "found element of type str at pos 1"),
    (lambda x: x.view("a"), r"invalid combination of arguments - got \(str\)"),
    (lambda x: torch.Tensor.add(1, 2), "descriptor 'add' of Tensor needs a Tensor"),
])
def test_wrong_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call(torch.ones(2, 2))


def test_errors_are_builtins_too():
    with pytest.raises(RuntimeError):
        torch.ones(2) + torch.ones(3)
    with pytest.raises(IndexError):
        torch.ones(2).sum(5)
    with pytest.raises(ValueError):
        torch.ones(2).to("nowhere")
    assert issubclass(torch.IndexError, IndexError) and issubclass(torch.OutOfMemoryError, RuntimeError)


def test_copies_and_pickles():
    x = torch.nn.parameter.Parameter(torch.ones(2, 3))
    x.note = 1
    y = copy.deepcopy(x)
    assert type(y) is type(x) and y is not x and torch.equal(x, y) and not vars(y) and y.requires_grad
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]
    z = pickle.loads(pickle.dumps(x))
    assert torch.equal(z, x) and type(z) is type(x)
    for value in (torch.float16, torch.device("cuda:1"), torch.Size([2, 3]), torch.relu):
        assert pickle.loads(pickle.dumps(value)) == value or value is torch.relu
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_memory_does_not_grow():
    # In a process of its own: other tests leave garbage of theirs.
    code = """
import argand as torch, gc
def resident(): return int(open('/proc/self/statm').read().split()[1])
def work(cycle):
    for _ in range(20000):
        x = torch.ones(8, requires_grad=True)
        if cycle: x.self = x
        (x * 2).sum().backward()
for cycle in (False, True):
    work(cycle); gc.collect(); before = resident()
    for _ in range(3): work(cycle); gc.collect()
    print((resident() - before) * 4)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0 and all(int(kilobytes) < 1024 for kilobytes in out.stdout.split()), out


def test_limits():
    assert torch.finfo(torch.float32).eps == np.finfo(np.float32).eps and torch.finfo(torch.float16).max == 65504
    assert torch.finfo(torch.float64).tiny == np.finfo(np.float64).tiny and torch.finfo(torch.bfloat16).bits == 16
    assert torch.iinfo(torch.int8).min == -128 and torch.iinfo(torch.uint8).max == 255
    with pytest.raises(TypeError):
        torch.finfo(torch.int8)
    assert math.isinf(torch.inf) and torch.pi == math.pi


def test_clamp_takes_either_limit_by_name():
    x = torch.tensor([-2.0, 0.5, 3.0])
    assert torch.clamp(x, max=1).tolist() == [-2, 0.5, 1] and x.clip(max=1.0).tolist() == [-2, 0.5, 1]
    assert x.clamp(min=0).tolist() == [0, 0.5, 3] and x.clone().clamp_(max=0).tolist() == [-2, 0, 0]
    with pytest.raises(ValueError, match="At least one of 'min' or 'max'"):
        x.clamp()


def test_text_of_a_number_in_a_format_string():
    loss = torch.tensor(1.5, requires_grad=True)
    assert f"{loss} {loss:.3f} {loss * 2}" == "1.5 1.500 3.0" and f"{torch.tensor(3)}" == "3"
    assert f"{torch.ones(2)}" == "tensor([1., 1.])" and f"{torch.nn.Parameter(torch.ones(()))}".startswith("Parameter containing")
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{torch.ones(2):.2f}"


def test_resize_keeps_what_was_there():
    x = torch.arange(6)
    address = x.data_ptr()
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0, 1], [2, 3]] and x.data_ptr() == address
    assert x.resize_((3, 3)).shape == (3, 3) and x.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_as_(torch.ones(4, 1)).shape == (4, 1)
    indices = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(torch.tensor([0, 3, 4]), out=indices).tolist() == [[1], [2]] and indices.shape == (2, 1)
    with pytest.raises(RuntimeError, match="resize"):
        torch.ones(2, requires_grad=True).resize_(3)


def test_storages(tmp_path):
    x = torch.arange(6.).reshape(2, 3)
    s = x.untyped_storage()
    assert s.nbytes() == len(s) == 24 and s[4:8].nbytes() == 4 and s[4:8].data_ptr() == s.data_ptr() + 4
    assert x.storage().tolist() == [0, 1, 2, 3, 4, 5] and x.storage().size() == 6 and x[1].untyped_storage() == s
    x.storage()[1] = 9.0
    assert x[0].tolist() == [0, 9, 2] and s.clone().fill_(0)[:4].tolist() == [0] * 4 and x[0, 1] == 9
    assert repr(x[0].clone().storage()) == " 0.0\n 9.0\n 2.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 3]"
    assert torch.tensor([]).set_(s, 0, (3, 2), (1, 3)).tolist() == [[0, 3], [9, 4], [2, 5]]
    assert torch.asarray(s[4:12], dtype=torch.uint8).view(torch.float32).tolist() == [9, 2]
    assert torch.asarray(s[1:9], dtype=torch.uint8).view(torch.float32).shape == (2,)  # not at a multiple of four
    with pytest.raises(RuntimeError, match="step of 2"):
        s[::2]
    assert torch.is_storage(s) and pickle.loads(pickle.dumps(s)).tolist() == s.tolist() and copy.deepcopy(s) != s
    path = tmp_path / "bytes"
    mapped = torch.UntypedStorage.from_file(path, True, 16)
    mapped[0] = 7
    private = torch.UntypedStorage.from_file(path, nbytes=16)
    private[1] = 8
    assert path.read_bytes() == b"\x07" + bytes(15) and private[:2].tolist() == [7, 8]
    with pytest.raises(RuntimeError, match="expected 17 bytes"):
        torch.UntypedStorage.from_file(path, nbytes=17)


def test_frombuffer_shares_memory():
    memory = bytearray(12)
    t = torch.frombuffer(memory, dtype=torch.float32, offset=4)
    t[1] = 1
    assert bytes(memory[8:]) == b"\0\0\x80?"
    constant = bytes(8)
    torch.frombuffer(constant, dtype=torch.int64).fill_(3)
    assert constant == bytes(8)
    assert torch.frombuffer(memory, dtype=torch.int16, offset=1, count=2).tolist() == [0, 0]


def test_what_no_gradient_reads_may_be_written_in_place():
    numbers = torch.tensor([2.0, 4.0])
    for op in (lambda t: t / 2, lambda t: 2 / t, lambda t: t ** 2, lambda t: t ** 3.5, lambda t: t.sum() / 4):
        x, z = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        y = op(x)
        y *= 2
        y.sum().backward()
        (op(z) * 2).sum().backward()
        assert torch.equal(x.grad, z.grad)
    for op in (lambda t: t * 2, lambda t: t / 2, lambda t: t * numbers, lambda t: numbers * t, lambda t: t / numbers):
        x, z = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        h = x.clone()
        y = op(h)
        h.add_(1)  # only the gradient of what is a constant here would read it
        y.sum().backward()
        op(z).sum().backward()
        assert torch.equal(x.grad, z.grad)
    h, w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0], requires_grad=True)
    y = h * w
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    h = torch.tensor([1.0, 2.0])
    h.mul_(w)  # reads h, too
    h.sum().backward()
    assert w.grad.tolist() == [1, 2]


def test_devices_compare_with_none():
    assert not torch.device("cpu") == None and torch.device("cpu") != None  # noqa: E711


def test_results_with_names_have_types():
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    for result, name in ((torch.max(x, 0), "max"), (x.max(0), "max"), (x.sort(), "sort"), (torch.linalg.svd(x), "linalg_svd")):
        assert type(result) is getattr(torch.return_types, name) and type(result) in torch.return_types.all_return_types
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result) and all(a.equal(b) for a, b in zip(again, result))
    with pytest.raises(AttributeError, match="no attribute 'add'"):  # returns one
        torch.return_types.add


def test_a_file_as_memory(tmp_path):
    path = tmp_path / "numbers"
    x = torch.from_file(path, shared=True, size=4, dtype=torch.int32)
    x.copy_(torch.arange(4))
    assert path.read_bytes() == bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])
    y = torch.from_file(path, size=2, dtype=torch.int32)
    y += 7
    assert y.tolist() == [7, 8] and x.tolist() == [0, 1, 2, 3]
    assert torch.from_file(path).shape == (0,)
    for arguments, message in ((dict(size=5), "expected 20 bytes in .*, which has 16"), (dict(size=1, device="meta"), "the memory of a file")):
        with pytest.raises(RuntimeError, match=message):
            torch.from_file(path, **arguments)
    with pytest.raises(ValueError, match="size of at least 0"):
        torch.from_file(path, size=-1)


@pytest.mark.parametrize("name", ["clamp_", "clip_", "div_", "divide_", "scatter_", "add", "max", "where", "sum"])
def test_functions_without_arguments(name):
    function = getattr(torch, name)
    for run in (lambda: function(), lambda: function(nonsense=1), lambda: function(nonsense=torch.ones(2))):
        with pytest.raises(TypeError):
            run()


def test_tolist_without_memory_for_it():
    script = ("import argand as torch, resource\n"
              "wide, long = torch.zeros(2**31 - 1, 0), torch.zeros(40_000_000)\n"
              "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
              "resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20),) * 2)\n"
              "for t in (long, wide):\n"
              "    try: t.tolist()\n"
              "    except MemoryError: print('MemoryError')\n")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (out.returncode, out.stdout.split()) == (0, ["MemoryError"] * 2), out.stderr


def test_lists_that_no_memory_holds():
    for x in (torch.ones(1).expand(2**45), torch.ones(1, 1).expand(2**30, 2**30)):
        with pytest.raises(MemoryError, match="tolist: lists of"):
            x.tolist()
