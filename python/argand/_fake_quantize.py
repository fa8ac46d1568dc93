"""Numbers rounded as quantized ones would be, and the names of the ways to quantize."""
from . import _C
from .autograd.function import Function


class qscheme:
    """How numbers would be quantized, by name."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"


per_tensor_affine, per_channel_affine, per_tensor_symmetric, per_channel_symmetric, per_channel_affine_float_qparams = map(qscheme, (
    "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams"))


class _FakeQuantize(Function):
    """Elements outside the range get no gradient; elements inside get all of it."""

    @staticmethod
    def forward(ctx, x, scale, zero_point, quant_min, quant_max):
        steps = (x * (1 / scale)).round() + zero_point
        ctx.save_for_backward((steps >= quant_min) & (steps <= quant_max))
        return ((steps.clamp(quant_min, quant_max) - zero_point) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return (grad * ctx.saved_tensors[0], None, None, None, None)


def _check_range(zero_point, quant_min, quant_max):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    if not quant_min <= zero_point.min() <= zero_point.max() <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """The multiples of `scale` nearest to the elements, from scale * (quant_min - zero_point) to scale * (quant_max - zero_point).  Their
    gradient goes to the elements within that range as if nothing had been rounded."""
    scale, zero_point = (_C.as_tensor(v, dtype=d, device=input.device) for v, d in ((scale, _C.float32), (zero_point, _C.int64)))
    _check_range(zero_point, quant_min, quant_max)
    return _FakeQuantize.apply(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """As fake_quantize_per_tensor_affine, with a scale and a zero point for each slice along an axis."""
    if scale.dim() != 1 or scale.shape != zero_point.shape or len(scale) != input.shape[axis]:
        raise RuntimeError(f"fake_quantize_per_channel_affine(): expected scale and zero_point of {input.shape[axis]} elements, as "
                           f"dimension {axis} has, got shapes {list(scale.shape)} and {list(zero_point.shape)}")
    _check_range(zero_point, quant_min, quant_max)
    sizes = [-1 if d == axis % input.dim() else 1 for d in range(input.dim())]
    return _FakeQuantize.apply(input, scale.view(sizes), zero_point.view(sizes), quant_min, quant_max)
