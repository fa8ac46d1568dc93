"""finfo and iinfo: the limits of dtypes."""
from . import _C

_FLOATS = {  # digits of the significand with the hidden one, smallest exponent of a normal number, largest exponent
    _C.float16: (11, -14, 15), _C.bfloat16: (8, -126, 127), _C.float32: (24, -126, 127), _C.float64: (53, -1022, 1023)}
_FLOATS[_C.complex64], _FLOATS[_C.complex128] = _FLOATS[_C.float32], _FLOATS[_C.float64]
# No op takes these; their limits are those of their formats, whose largest numbers are no 1.11...1.
_FLOAT8 = {_C.float8_e4m3fn: (4, -6, 448.0), _C.float8_e4m3fnuz: (4, -7, 240.0), _C.float8_e5m2: (3, -14, 57344.0),
           _C.float8_e5m2fnuz: (3, -15, 57344.0), _C.float8_e8m0fnu: (1, -127, 2.0**127)}
_INTEGERS = {_C.uint8: 8, _C.int8: 8, _C.int16: 16, _C.int32: 32, _C.int64: 64,
             _C.uint16: 16, _C.uint32: 32, _C.uint64: 64}


def _name(dtype):
    return repr(dtype).removeprefix("torch.")


class finfo:
    """Limits of a floating-point dtype (default: the default dtype): bits, eps, max, min, tiny, smallest_normal,
    resolution, dtype."""

    def __init__(self, type=None):
        type = _C.get_default_dtype() if type is None else type
        if type in _FLOAT8:
            digits, low, self.max = _FLOAT8[type]
            self._set(type, digits, low, -self.max if digits > 1 else 2.0**low)
            return
        if type not in _FLOATS:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{_name(type)}'")
        digits, low, high = _FLOATS[type]
        self.max = (2.0 - 2.0 ** (1 - digits)) * 2.0**high
        self._set(type.to_real(), digits, low, -self.max)

    def _set(self, type, digits, low, least):
        self.bits = type.itemsize * 8
        self.eps = 2.0 ** (1 - digits)
        self.min = least
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = 10.0 ** -int((digits - 1) * 0.30103)
        self.dtype = _name(type)

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """Limits of an integer dtype: bits, min, max, dtype."""

    def __init__(self, type):
        if type not in _INTEGERS:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{_name(type)}'")
        self.bits = _INTEGERS[type]
        unsigned = not type.is_signed
        self.max = 2**self.bits - 1 if unsigned else 2 ** (self.bits - 1) - 1
        self.min = 0 if unsigned else -(2 ** (self.bits - 1))
        self.dtype = _name(type)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
