"""Padding: what is added at both ends of the last dimensions, given as (left, right, top, bottom, front, back)."""
from .. import functional as F
from .._sizes import _ntuple, _pair, _quadruple
from .module import Module

_sextuple = _ntuple(6, "_sextuple")


class _PadNd(Module):
    __constants__ = ["padding"]
    _mode = "constant"
    _parse = None

    def __init__(self, padding):
        super().__init__()
        self.padding = self._parse(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input):
        dims = len(self.padding) // 2
        if input.dim() not in (dims + 1, dims + 2):
            raise ValueError(f"expected {dims + 1}D or {dims + 2}D input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        return super().forward(input)


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class CircularPad1d(_CircularPadNd):
    """The input continued from its other end [N, C, L]."""
    _parse = staticmethod(_pair)


class CircularPad2d(_CircularPadNd):
    """The input continued from its other end [N, C, H, W]."""
    _parse = staticmethod(_quadruple)


class CircularPad3d(_CircularPadNd):
    """The input continued from its other end [N, C, D, H, W]."""
    _parse = staticmethod(_sextuple)


class ConstantPad1d(_ConstantPadNd):
    """A constant around the input [N, C, L]."""
    _parse = staticmethod(_pair)


class ConstantPad2d(_ConstantPadNd):
    """A constant around the input [N, C, H, W]."""
    _parse = staticmethod(_quadruple)


class ConstantPad3d(_ConstantPadNd):
    """A constant around the input [N, C, D, H, W]."""
    _parse = staticmethod(_sextuple)


class ReflectionPad1d(_ReflectionPadNd):
    """The input mirrored at its edges [N, C, L]."""
    _parse = staticmethod(_pair)


class ReflectionPad2d(_ReflectionPadNd):
    """The input mirrored at its edges [N, C, H, W]."""
    _parse = staticmethod(_quadruple)


class ReflectionPad3d(_ReflectionPadNd):
    """The input mirrored at its edges [N, C, D, H, W]."""
    _parse = staticmethod(_sextuple)


class ReplicationPad1d(_ReplicationPadNd):
    """The edges of the input repeated [N, C, L]."""
    _parse = staticmethod(_pair)


class ReplicationPad2d(_ReplicationPadNd):
    """The edges of the input repeated [N, C, H, W]."""
    _parse = staticmethod(_quadruple)


class ReplicationPad3d(_ReplicationPadNd):
    """The edges of the input repeated [N, C, D, H, W]."""
    _parse = staticmethod(_sextuple)


class ZeroPad1d(ConstantPad1d):
    """Zeros around [N, C, L]."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around [N, C, H, W]."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around [N, C, D, H, W]."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"
