"""Convolutions."""
import math

from ... import _C
from .. import functional as F
from .. import init
from .._sizes import _ntuple, _reverse_repeat_tuple
from ..parameter import Parameter
from .module import Module, weight_and_bias

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What convolutions and transposed convolutions of any dimension share."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
                     "out_channels", "kernel_size"]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups,
                 bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got "
                             f"padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        # What F.pad takes, for the modes that the convolution itself does not pad in.
        if isinstance(padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size)]
            self._reversed_padding_repeated_twice = [p for t in reversed(total) for p in (t // 2, t - t // 2)]
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(padding, 2)
        shape = ((in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups))
        self.weight = Parameter(_C.empty((*shape, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        # The slope sqrt(5) gives the bound 1 / sqrt(fan_in).
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        dims = len(self.kernel_size)
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            if getattr(self, name) != (usual,) * dims:
                text += f", {name}={getattr(self, name)}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    _dims = 0
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        parse = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, parse(kernel_size), parse(stride),
                         padding if isinstance(padding, str) else parse(padding), parse(dilation), False, parse(0),
                         groups,
                         bias, padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return self._function(padded, weight, bias, self.stride, (0,) * self._dims, self.dilation, self.groups)
        return self._function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, *weight_and_bias(self))


class Conv1d(_Conv):
    """Convolution of [N, C, L] or [C, L]."""
    _dims = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of [N, C, H, W] or [C, H, W]."""
    _dims = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of [N, C, D, H, W] or [C, D, H, W]."""
    _dims = 3
    _function = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    _dims = 0
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        parse = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, parse(kernel_size), parse(stride), parse(padding), parse(dilation),
                         True,
                         parse(output_padding), groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input, output_size):
        """What is added at one end so that output_size comes out."""
        if output_size is None:
            return self.output_padding
        n = self._dims
        batched = input.dim() == n + 2
        if len(output_size) == (n + 2 if batched else n + 1):
            output_size = output_size[-n:]
        if len(output_size) != n:
            kind = "Input" if batched else "input"
            raise ValueError(f"ConvTranspose{n}D: for {input.dim()}D {kind.lower()}, output_size must have {n} or "
                             f"{input.dim()} elements (got {len(output_size)})")
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in zip(
            input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size)]
        most = [size + s - 1 for size, s in zip(least, self.stride)]
        if any(not a <= size <= b for a, size, b in zip(least, output_size, most)):
            raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                             f"(for an input of {input.size()[2:]})")
        return [size - a for size, a in zip(output_size, least)]

    def forward(self, input, output_size=None):
        return self._function(input, self.weight, self.bias, self.stride, self.padding,
                              self._output_padding(input, output_size), self.groups, self.dilation)


_ConvTransposeMixin = _ConvTransposeNd  # its name before


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d with respect to its input, as a module."""
    _dims = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d with respect to its input, as a module."""
    _dims = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d with respect to its input, as a module."""
    _dims = 3
    _function = staticmethod(F.conv_transpose3d)
