"""Comparison of tensors in tests, as torch.testing."""
import cmath
import collections.abc
import numbers

from .. import _C
from .._numpy_if_loaded import numpy_if_loaded
from ._file_check import FileCheck  # noqa: F401

# dtype -> (rtol, atol) of assert_close() when a program names none.
_TOLERANCES = {_C.float16: (1e-3, 1e-5), _C.bfloat16: (1.6e-2, 1e-5), _C.float32: (1.3e-6, 1e-5), _C.float64: (1e-7, 1e-7),
               _C.complex64: (1.3e-6, 1e-5), _C.complex128: (1e-7, 1e-7)}


def _tolerances(dtypes, rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both rtol and atol must be either specified or unspecified, but got no {'rtol' if rtol is None else 'atol'}.")
    if rtol is not None:
        return rtol, atol
    known = [_TOLERANCES.get(d, (0.0, 0.0)) for d in dtypes]
    return max((r for r, _ in known), default=0.0), max((a for _, a in known), default=0.0)


def _fail(text, msg, where):
    text += f"\n\nThe failure occurred for item {where}" if where else ""
    raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def _index(flat, shape):
    position = []
    for size in reversed(shape):
        flat, last = divmod(flat, size)
        position.insert(0, last)
    return tuple(position)


def _worst(difference, wrong, shape, allowed, kind):
    difference = difference.masked_fill(~wrong, 0).reshape(-1)
    most = int(difference.argmax())
    at = f" at index {_index(most, shape)}" if shape else ""
    return f"Greatest {kind} difference: {difference[most].item()}{at}{allowed}"


def _allowed(rtol, atol):
    """What the text of a failure adds to the absolute and to the relative difference: nothing where values must be equal."""
    return ("", "") if rtol == atol == 0 else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")


def _compare_tensors(actual, expected, rtol, atol, equal_nan, checks, msg, where):
    for name, wanted in checks.items():
        a, e = getattr(actual, name), getattr(expected, name)
        a, e = (a(), e()) if name == "stride" else (a, e)
        if wanted and a != e:
            _fail(f"The values for attribute '{name}' do not match: {a} != {e}.", msg, where)
    rtol, atol = _tolerances((actual.dtype, expected.dtype), rtol, atol)
    if actual.is_meta and expected.is_meta:
        return  # there are no elements
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    if actual.dtype != expected.dtype:
        common = _C.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    wrong = ~_C.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    count = int(wrong.sum())
    if count == 0:
        return
    if actual.dim() == 0:
        return _compare_numbers(actual.item(), expected.item(), rtol, atol, equal_nan, msg, where)
    wide = _C.complex128 if actual.is_complex() else _C.float64 if actual.is_floating_point() else _C.int64
    difference = (actual.to(wide) - expected.to(wide)).abs()
    up_to_atol, up_to_rtol = _allowed(rtol, atol)
    lines = [f"Tensor-likes are not {'equal' if rtol == atol == 0 else 'close'}!", "",
             f"Mismatched elements: {count} / {actual.numel()} ({count / actual.numel():.1%})",
             _worst(difference, wrong, actual.shape, up_to_atol, "absolute"),
             _worst(difference / expected.to(wide).abs(), wrong, actual.shape, up_to_rtol, "relative")]
    _fail("\n".join(lines), msg, where)


def _compare_numbers(actual, expected, rtol, atol, equal_nan, msg, where):
    if actual == expected or (equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    exact = isinstance(actual, int) and isinstance(expected, int)
    if rtol is None or atol is None:
        rtol, atol = _tolerances((_C.int64 if exact else _C.float64,), rtol, atol)
    difference = abs(actual - expected)
    if exact and not rtol:
        close = difference <= atol  # in whole numbers
    else:
        close = cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)
    if close:
        return
    relative = difference / abs(expected) if expected else float("inf")
    up_to_atol, up_to_rtol = _allowed(rtol, atol)
    _fail(f"Scalars are not {'equal' if rtol == atol == 0 else 'close'}!\n\nExpected {expected} but got {actual}.\n"
          f"Absolute difference: {difference}{up_to_atol}\nRelative difference: {relative}{up_to_rtol}", msg, where)


def _plain(value):
    """A number or bool of NumPy's as Python's."""
    numpy = numpy_if_loaded()
    return value.item() if numpy and isinstance(value, (numpy.number, numpy.bool_)) else value


def _is_sequence(value):
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes))


def _is_number(value):
    return isinstance(value, numbers.Number)


def _are_tensor_like(a, e):
    """Whether two values can be compared as tensors: both are tensors, or both are of one class that becomes one."""
    if not (isinstance(a, type(e)) or isinstance(e, type(a))):
        return isinstance(a, _C.Tensor) and isinstance(e, _C.Tensor)
    return isinstance(a, _C.Tensor) or hasattr(a, "__array__") or hasattr(a, "__dlpack__") or hasattr(a, "__array_interface__")


def _as_tensor(value):
    return value if isinstance(value, _C.Tensor) else _C.as_tensor(value)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| for all elements of two tensors, numbers, arrays, or
    sequences and mappings of such; a NaN equals none unless equal_nan.  Numbers of two types (1 and 1.0) differ where dtypes are checked;
    None is equal to None, and tensors without elements, those of "meta", are equal where their attributes are."""
    _tolerances((), rtol, atol)
    checks = {"shape": True, "device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}

    def compare(a, e, where):
        a, e = _plain(a), _plain(e)
        if a is None or e is None:
            if a is not e:
                _fail(f"None mismatch: {a} is not {e}", msg, where)
        elif isinstance(a, bool) and isinstance(e, bool):
            if a is not e:
                _fail(f"Booleans mismatch: {a} is not {e}", msg, where)
        elif _is_number(a) and _is_number(e):
            if check_dtype and type(a) is not type(e):
                _fail(f"The (d)types do not match: {type(a)} != {type(e)}.", msg, where)
            _compare_numbers(a, e, rtol, atol, equal_nan, msg, where)
        elif isinstance(a, collections.abc.Mapping) and isinstance(e, collections.abc.Mapping):
            if a.keys() != e.keys():
                _fail(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(e.keys() - a.keys())}\n"
                      f"Additional keys in the actual mapping: {sorted(a.keys() - e.keys())}", msg, where)
            for key in a:
                compare(a[key], e[key], f"{where}[{key!r}]")
        elif _is_sequence(a) and _is_sequence(e):
            if len(a) != len(e):
                _fail(f"The length of the sequences mismatch: {len(a)} != {len(e)}", msg, where)
            for i, (x, y) in enumerate(zip(a, e)):
                compare(x, y, f"{where}[{i}]")
        elif _are_tensor_like(a, e) and (allow_subclasses or type(a) is type(e)):
            _compare_tensors(_as_tensor(a), _as_tensor(e), rtol, atol, equal_nan, checks, msg, where)
        else:
            raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}.")
    compare(actual, expected, "")


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old assert_close(): dtypes and devices may differ."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False,
                 msg=msg or None)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    """A tensor of random elements of [low, high), by default [-9, 9), or [0, 10) where there are no negative numbers."""
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low = low if low is not None else 0 if dtype in (_C.uint8, _C.bool) else -9
    high = high if high is not None else 2 if dtype is _C.bool else 10 if dtype is _C.uint8 else 9
    wide = (*shape[:-1], 2 * shape[-1]) if noncontiguous and shape else shape
    if dtype.is_floating_point or dtype.is_complex:
        real = _C.rand(wide, device=device) * (high - low) + low
        result = (_C.complex(real, _C.rand(wide, device=device) * (high - low) + low) if dtype.is_complex else real).to(dtype)
    else:
        result = _C.randint(int(low), int(high), wide, device=device).to(dtype)
    result = result[..., ::2] if noncontiguous and shape else result
    result = _C.where(result == 0, _C.ones_like(result), result) if exclude_zero else result
    result = result.contiguous(memory_format=memory_format) if memory_format is not None else result
    return result.requires_grad_(requires_grad)
