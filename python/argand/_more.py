"""Rarely used names of torch, loaded at first use."""
import enum
import math

from . import _C, backends
from ._functions import Tensor, _into
from ._ignored import harmless
from ._refused import refused, refused_class
from ._switches import checked, checked_argument
from ._typed_storage import ON_CPU
from .amp.autocast_mode import is_autocast_enabled, set_autocast_dtype, set_autocast_enabled
from .autograd.anomaly_mode import set_detect_anomaly
from .autograd.function import Function
from .nn.functional import bilinear, conv_tbc, native_channel_shuffle, rrelu_
from .utils.dlpack import from_dlpack, to_dlpack

__all__ = ["AcceleratorError", "ScriptMethod", "ScriptObject", "Tag", "addmv_", "bilinear", "compiled_with_cxx11_abi", "cond",
           "conv_tbc", "convolution", "detach_", "from_dlpack", "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine",
           "get_device_module", "has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp", "has_spectral",
           "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_autocast_cpu_enabled", "is_autocast_ipu_enabled",
           "is_autocast_xla_enabled", "is_distributed", "is_vulkan_available", "is_warn_always_enabled", "ldexp_",
           "legacy_contiguous_format", "native_channel_shuffle", "norm_except_dim", "per_channel_affine",
           "per_channel_affine_float_qparams", "per_channel_symmetric", "per_tensor_affine", "per_tensor_symmetric", "qscheme",
           "resize_as_", "rrelu_", "set_anomaly_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype",
           "set_warn_always", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum", "to_dlpack",
           "while_loop"]

AcceleratorError = _C.DeviceError
legacy_contiguous_format = _C.contiguous_format
has_lapack = has_spectral = True
addmv_, detach_, ldexp_, resize_as_ = Tensor.addmv_, Tensor.detach_, Tensor.ldexp_, Tensor.resize_as_


def __getattr__(name):
    library = getattr(backends, name.removeprefix("has_"), None)
    if library is None:
        raise AttributeError(name)
    return library.is_built() if name == "has_cuda" else library.is_available()


# ---- settings


def is_autocast_cpu_enabled():
    """Whether autocast is on for the CPU."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled):
    """Autocast on or off for the CPU."""
    set_autocast_enabled("cpu", checked_argument(enabled, "set_autocast_cpu_enabled", "enabled", 1))


def set_autocast_cpu_dtype(dtype):
    """The dtype that products are cast to on the CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype):
    """The dtype that products are cast to on GPUs."""
    set_autocast_dtype("cuda", dtype)


def is_anomaly_enabled():
    """Whether backward says where in the program the op was called that fails: see autograd.set_detect_anomaly."""
    return _C._is_watched()


def is_anomaly_check_nan_enabled():
    """Whether backward looks for NaN: see autograd.set_detect_anomaly."""
    return _C._is_anomaly_enabled()


def set_anomaly_enabled(enabled, check_nan=True):
    """As autograd.set_detect_anomaly, with no scope."""
    set_detect_anomaly(enabled, check_nan)


def set_warn_always(b, /):
    """Whether what the library warns of once, it warns of each time.  Python's filters may still show a text once."""
    _C._set_warns_always(checked(b, "torch.set_warn_always()"))


def is_warn_always_enabled():
    """Whether set_warn_always() switched repeated warnings on."""
    return _C._warns_always()


def get_device_module(device=None):
    """torch.cuda for a GPU and torch.cpu for the CPU; for None that of the GPU where there is one."""
    from ._utils import _get_device_module
    if device is None:
        device = "cuda" if _C.cuda.is_available() else "cpu"
    return _get_device_module(_C.device(device).type)


def _int_mm(input, mat2, *, out=None):
    """The product of matrices of int8, with sums in int32."""
    for name, t in (("input", input), ("mat2", mat2)):
        if t.dtype is not _C.int8 or t.dim() != 2:
            raise RuntimeError(f"_int_mm: expected {name} to be a matrix of int8, got {t.dim()} dimensions of {t.dtype}")
    product = _C.mm(input.to(_C.int32), mat2.to(_C.int32))
    return _into(out, product)


# ---- facts


def is_vulkan_available():
    """False."""
    return False


is_autocast_ipu_enabled = is_autocast_xla_enabled = is_vulkan_available


@harmless(input="a tensor is one process's")
def is_distributed(input):
    """False: a tensor is one process's."""
    return False


def compiled_with_cxx11_abi():
    """True."""
    return True


# ---- sizes that a compiler would not know: here they are numbers


def sym_int(a):
    """The number without its fraction."""
    return int(a)


def sym_float(a):
    """The number as a float."""
    return float(a)


def sym_max(a, b):
    """The greater number; a float if one is."""
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    """The smaller number; a float if one is."""
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_not(a):
    """not a"""
    return not a


def sym_ite(b, t, f):
    """t if b, else f."""
    return t if b else f


def sym_sqrt(a):
    """The square root."""
    return math.sqrt(a)


def sym_sum(*args):
    """The sum of numbers, or of those in a list."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred, else false_fn(*operands)."""
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"cond(): expected a tuple or list of operands, got {type(operands).__name__}")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """body_fn of what it gave before, from carried_inputs on, while cond_fn of that holds; a tuple."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return carried


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


# ---- numbers rounded as quantized ones would be


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


# ---- names that are compared or passed on


class qscheme:
    """How numbers would be quantized, by name."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"


per_tensor_affine, per_channel_affine, per_tensor_symmetric, per_channel_symmetric, per_channel_affine_float_qparams = map(qscheme, (
    "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams"))

Tag = enum.Enum("Tag", [
    "core", "cudagraph_unsafe", "data_dependent_output", "dynamic_output_shape", "flexible_layout", "generated", "inplace",
    "inplace_view", "maybe_aliasing_or_mutating", "needs_contiguous_strides", "needs_exact_strides", "needs_fixed_stride_order",
    "nondeterministic_bitwise", "nondeterministic_seeded", "out", "out_variant", "pointwise", "pt2_compliant_tag", "reduction",
    "view_copy"])


globals().update(ON_CPU)
__all__ += ON_CPU

# ---- what is not there

ScriptMethod, ScriptObject = (refused_class("torch." + name, "there is no TorchScript") for name in ("ScriptMethod", "ScriptObject"))
for _why, _names in {
        "there are no sparse tensors": ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor",
                                        "sparse_bsc_tensor", "sparse_compressed_tensor", "spmm", "hspmm", "sspaddmm", "smm", "dsmm"),
        "there are no quantized tensors": ("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic", "dequantize"),
        "eigenvectors of parts of a spectrum are not computed; torch.linalg.eigh gives all": ("lobpcg",)}.items():
    globals().update({name: refused("torch." + name, _why) for name in _names})
    __all__ += _names
del _why, _names
