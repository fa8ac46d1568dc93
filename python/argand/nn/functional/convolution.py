"""Convolutions and their patches: unfold and fold."""
from ... import _C
from ..._tensor_arguments import need_tensors
from .._sizes import _pair

conv1d, conv2d, conv3d = _C.conv1d, _C.conv2d, _C.conv3d
conv_transpose1d, conv_transpose2d, conv_transpose3d = _C.conv_transpose1d, _C.conv_transpose2d, _C.conv_transpose3d


def conv_tbc(input, weight, bias, pad=0) -> "_C.Tensor":
    """A convolution along the first dimension of [T, N, C], with weight [K, C, O] and bias [O]: [T + 2 pad - K + 1, N, O]."""
    need_tensors("conv_tbc", input=input, weight=weight, bias=bias)
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The patches that a convolution sees, as columns: [N, C, H, W] to [N, C * kernel, places]."""
    return _C.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of patches in an image: [N, C * kernel, places] to [N, C, *output_size]."""
    return _C.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
