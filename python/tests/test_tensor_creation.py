"""What makes tensors: dtypes that are found, texts of errors, outputs that do not fit."""
import numpy as np
import pytest

import argand as torch


@pytest.fixture(params=[torch.float32, torch.float64])
def default(request):
    before = torch.get_default_dtype()
    torch.set_default_dtype(request.param)
    yield request.param
    torch.set_default_dtype(before)


def test_dtypes_of_numpys_numbers_in_lists(default):
    for kind in ("float64", "float32", "float16", "int32", "int64", "uint8", "complex64", "complex128", "bool_"):
        number = getattr(np, kind)(1)
        expected = getattr(torch, kind.rstrip("_"))
        assert torch.tensor([number]).dtype is torch.tensor([[number, np.array(1, dtype=kind)]]).dtype is expected
    for kind in ("float64", "float32", "int32", "complex128"):
        rows = np.ones((2, 3), kind)
        assert torch.tensor(list(rows)).dtype is torch.tensor([rows]).dtype is torch.as_tensor([[rows[0]], [rows[1]]]).dtype is getattr(torch, kind)
    assert torch.tensor([np.float64(1) / 3, 1]).tolist() == [1 / 3, 1.]  # not rounded on the way
    assert torch.tensor([1., 2]).dtype is torch.tensor([type("Real", (float,), {})(1)]).dtype is default
    assert torch.tensor(((7, 5), (9, np.array(5.)))).dtype is torch.float64
    assert torch.tensor(((7, np.array(5)), (np.array(9), 5.))).dtype is default
    assert torch.tensor([np.float32(1), 2]).dtype is torch.float32
    assert torch.tensor([np.uint16(3)]).tolist() == [3]


def test_truth_of_complex_numbers():
    assert torch.tensor([1e-323, 0j, 1e-323j, 1 + 2j, -1j, 0], dtype=torch.bool).tolist() == [True, False, True, True, True, False]


def test_lists_within_themselves():
    flat = [0]
    flat.append(flat)
    for data in (flat, [[1, 2], flat], (flat, 1)):
        with pytest.raises((TypeError, ValueError)):
            torch.tensor(data)
    with pytest.raises(TypeError, match="self-referential lists are incompatible"):
        torch.as_tensor([[1, 2], flat])


def test_sizes_are_integers():
    for bad in (torch.ones(3), [1.5], ["1"], (2, None)):
        with pytest.raises(TypeError, match=r"torch.Size\(\) takes an iterable of 'int' \(item \d is '(Tensor|float|str|NoneType)'\)"):
            torch.Size(bad)
    sizes = torch.Size([torch.tensor(2), np.int64(3), True])
    assert sizes == (2, 3, 1) and type(sizes[0]) is type(sizes[1]) is int and type(sizes[1:] + sizes) is torch.Size
    assert type(sizes * 2) is type(2 * sizes) is torch.Size and sizes * 2 == (2, 3, 1, 2, 3, 1)
    assert torch.Size() == () and torch.Size(torch.tensor([1, 2])) == (1, 2)


def test_device_of_legacy_constructors():
    x = torch.ones(2)
    for make in (lambda d: torch.Tensor(2, 3, device=d), lambda d: torch.FloatTensor(2, 3, device=d), lambda d: x.new(2, 3, device=d),
                 lambda d: torch.Tensor(torch.Size((2, 3)), device=d)):
        assert make("cpu").shape == make(None).shape == (2, 3)
        with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: cuda was passed"):
            make("cuda")
    for make in (lambda d: torch.Tensor(x, device=d), lambda d: torch.FloatTensor(x, device=d), lambda d: x.new(x, device=d)):
        for device in ("cpu", "cuda"):
            with pytest.raises(RuntimeError, match=r"of the form torch.Tensor\(tensor, device=device\) is not supported"):
                make(device)
    assert torch.Tensor((2., 3.), device="cpu").tolist() == x.new((2., 3.), device="cpu").tolist() == [2, 3]


def test_arange_warns_of_an_output_of_another_length():
    out = torch.zeros(1, 49)
    with pytest.warns(UserWarning, match=r"out tensor of shape \[1, 49\] is 49 which does not match the computed number of elements 50"):
        torch.arange(-1, 1, 2. / 49, out=out)
    assert out.shape == (50,)


def test_ranges_that_are_too_large():
    with pytest.raises(RuntimeError, match=r"Storage size calculation overflowed with sizes=\[8, 8\] and strides=\[2305843009213693952, 1\]"):
        torch.empty_strided([8, 8], [2 ** 61, 1])
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        limits = torch.finfo(dtype)
        with pytest.raises(RuntimeError, match="uniform_ expects to-from <= "):
            torch.empty(3, dtype=dtype).uniform_(limits.min, limits.max)
        assert torch.empty(3, dtype=dtype).uniform_(0, limits.max).isfinite().all()
    with pytest.raises(RuntimeError, match="roll: `shifts` required"):
        torch.ones(2, 2).roll((), 1)


def test_concatenation_of_slices_with_their_channels_last():
    x = torch.arange(24.).reshape(2, 2, 3, 2).to(memory_format=torch.channels_last)
    first, second = x[:, :, :2], x[:, :, 1:]
    joined = torch.cat((first, second), -1)
    assert joined.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(joined, torch.cat((first.contiguous(), second.contiguous()), -1))
    assert torch.cat((first, second.contiguous()), -1).is_contiguous()


def test_a_private_mapping_has_no_file_name(tmp_path):
    (tmp_path / "numbers").write_bytes(np.arange(4.).tobytes())
    path = str(tmp_path / "numbers")
    assert torch.from_file(path, shared=False, size=4, dtype=torch.float64).untyped_storage().filename is None
    assert torch.from_file(path, shared=True, size=4, dtype=torch.float64).untyped_storage().filename == path


def test_numbers_repeated_as_counts_say():
    counts = torch.tensor([0, 1, 2, 3])
    for form in (torch.repeat_interleave(counts), torch.repeat_interleave(repeats=counts), torch.repeat_interleave(counts, output_size=6)):
        assert form.tolist() == [1, 2, 2, 3, 3, 3] and form.dtype is torch.int64
    assert torch.repeat_interleave(counts.int()).dtype is torch.int32
    assert torch.repeat_interleave(torch.ones(2, 2), 2, dim=1).shape == (2, 4) and torch.repeat_interleave(counts, repeats=2).shape == (8,)
    for bad, text in ((counts.view(2, 2), "only accept 1D vector"), (counts.double(), "int64 or int32, got torch.float64"),
                      (-counts, "repeats can not be negative")):
        with pytest.raises(RuntimeError, match=text):
            torch.repeat_interleave(bad)
    with pytest.raises(TypeError, match="a tensor of counts alone, got int alone"):
        torch.repeat_interleave(3)


def test_ends_of_a_line_may_be_tensors_that_require_grad():
    """Their gradient ends there, as in PyTorch."""
    a, b = torch.tensor(1., requires_grad=True), torch.tensor(3., requires_grad=True)
    for start, end in ((a, b), (a, 3), (1, b), (a.double(), b)):
        assert torch.linspace(start, end, 3).tolist() == [1, 2, 3] and torch.logspace(start, end, 3, base=2).tolist() == [2, 4, 8]
        assert not torch.linspace(start, end, 3).requires_grad
    assert torch.linspace(start=a, end=b, steps=torch.tensor(3), dtype=torch.int64).tolist() == [1, 2, 3]
    assert torch.linspace(a, b, 3, requires_grad=True).is_leaf and torch.linspace(a, b, 3, out=torch.empty(3)).tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError):
        torch.linspace(torch.ones(2), b, 3)
    for call in (lambda: torch.arange(a), lambda: torch.full((2,), a), lambda: torch.logspace(a, b, 3, base=a)):
        with pytest.raises(TypeError):
            call()


class Three:
    def __index__(self):
        return 3


LEGACY = [torch.Tensor, torch.FloatTensor, torch.DoubleTensor, torch.LongTensor, torch.BoolTensor, torch.ones(2).new]


@pytest.mark.parametrize("make", LEGACY)
def test_sizes_of_legacy_constructors_are_integers_of_any_kind(make):
    for size in (3, np.int64(3), np.int32(3), np.uint8(3), np.array(3), Three()):
        assert make(size).shape == (3,) and make(2, size).shape == (2, 3) and make(size, 2).shape == (3, 2)
    assert make(2, True).shape == (2, 1) and make().shape == (0,) and make(torch.Size([2, 3])).shape == (2, 3)
    assert make([3]).shape == (1,) and make(np.array([1, 2])).shape == (2,) and make(range(4)).shape == (4,)
    for wrong in (True, False, np.bool_(True), 2.5, np.float32(2.5), np.float64(2.5), 1j, None, {}, (i for i in range(2))):
        with pytest.raises(TypeError, match="data must be a sequence"):
            make(wrong)
    for wrong in ((True, 2), ([2], 3), (2.5, 2), (None, 2)):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            make(*wrong)
    for wrong in ((2, 2.5), (2, None), (2, [3])):
        with pytest.raises(TypeError):
            make(*wrong)


def test_a_bool_is_a_size_behind_the_first():
    assert torch.ones((2, True)).shape == torch.ones(2, True).shape == torch.zeros([2, True]).shape == (2, 1)
    assert torch.ones(2).view(2, True).shape == torch.ones(2).reshape((2, True)).shape == (2, 1)
    assert torch.ones(2, 2).sum((0, True)) == 4
    for wrong in (lambda: torch.ones((True, 2)), lambda: torch.ones(True, 2), lambda: torch.ones([True]), lambda: torch.ones((2, np.bool_(True)))):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("data", [None, {}, {1}, (i for i in [1]), object(), len, [None], [1, {}], [[None]]])
def test_what_has_no_dtype(data):
    with pytest.raises(RuntimeError, match="Could not infer dtype of"):
        torch.tensor(data)
    with pytest.raises(RuntimeError, match="Could not infer dtype of"):
        torch.as_tensor(data)
    for given in (lambda: torch.tensor(data, dtype=torch.float32), lambda: torch.ones(2).new_tensor(data)):
        with pytest.raises(TypeError, match="invalid data type"):
            given()


def test_texts_are_no_data():
    for make in (torch.tensor, torch.as_tensor, torch.ones(2).new_tensor):
        with pytest.raises(TypeError, match="invalid data type 'str'"):
            make("a")
        with pytest.raises(ValueError, match="too many dimensions 'str'"):
            make(["a"])
    for key in ("a", ["a"], (None, "a")):
        with pytest.raises(TypeError, match="invalid data type 'str'"):
            torch.ones(2)[key]


def test_arrays_that_no_tensor_holds():
    for dtype in (">i4", ">f8", ">c8"):
        array = np.zeros(2, dtype=dtype)
        for make in (torch.tensor, torch.as_tensor, torch.from_numpy, lambda a: torch.ones(2) == a):
            with pytest.raises(ValueError, match="byte order different from the native byte order"):
                make(array)
    assert torch.tensor([np.array([1, 2], dtype=">i4")]).tolist() == [[1, 2]]
    wide = np.zeros(2, dtype=np.longdouble)
    for make in (lambda: torch.tensor(wide), lambda: torch.tensor([wide]), lambda: torch.tensor(wide[0]), lambda: torch.tensor([wide[0]])):
        with pytest.raises(TypeError, match="can't convert an array of type"):
            make()


@pytest.mark.parametrize("number", [2**64, 2**100, -2**63 - 1, 2**2000])
def test_integers_beyond_64_bits_beside_a_tensor(number):
    x, n = torch.ones(2), torch.tensor([2**63 - 1])
    for call in (lambda: x + number, lambda: number * x, lambda: n == number, lambda: n < number, lambda: x.add_(number),
                 lambda: torch.add(x, x, alpha=number), lambda: x.fill_(number), lambda: torch.full((2,), number), lambda: x.clamp(number),
                 lambda: x.masked_fill(x > 0, number)):
        with pytest.raises(OverflowError):
            call()

    def write():
        x[0] = number
    for call in (write, lambda: x[number], lambda: x.sum(number), lambda: x.narrow(0, 0, number)):
        with pytest.raises(ValueError, match="Overflow when unpacking long"):
            call()
    assert x.tolist() == [1, 1]
