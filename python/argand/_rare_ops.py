"""Ops of torch under names that few programs use, loaded at first use."""
from . import _C
from ._functions import Tensor, _into

addmv_, detach_, ldexp_, resize_as_ = Tensor.addmv_, Tensor.detach_, Tensor.ldexp_, Tensor.resize_as_


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """conv1d, conv2d or conv3d, or the transposed one, by the dimensions of the input."""
    dims = input.dim() - 2
    if len(output_padding) not in (1, dims):
        raise RuntimeError(f"expected output_padding to be a single integer value or a list of {dims} values to match the convolution "
                           f"dimensions, but got output_padding={list(output_padding)}")
    if any(n < 0 for n in output_padding):
        raise RuntimeError("negative output_padding is not supported")
    if transposed:
        return getattr(_C, f"conv_transpose{dims}d")(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(_C, f"conv{dims}d")(input, weight, bias, stride, padding, dilation, groups)


def norm_except_dim(v, pow=2, dim=0):
    """The norms of the slices along a dimension, which alone keeps its size; dim=-1: one of all elements."""
    return v.norm(pow) if dim == -1 else v.norm(pow, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True)


def _int_mm(input, mat2, *, out=None):
    """The product of matrices of int8, with sums in int32."""
    for name, t in (("input", input), ("mat2", mat2)):
        if t.dtype is not _C.int8 or t.dim() != 2:
            raise RuntimeError(f"_int_mm: expected {name} to be a matrix of int8, got {t.dim()} dimensions of {t.dtype}")
    product = _C.mm(input.to(_C.int32), mat2.to(_C.int32))
    return _into(out, product)
