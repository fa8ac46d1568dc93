"""Initial values of parameters, in place, with PyTorch's random numbers."""
import functools
import inspect
import math
import warnings

from .. import _C
from ..autograd.grad_mode import no_grad

_GAINS = {"linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0, "conv_transpose2d": 1.0,
          "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def _initializes(function):
    """Without recording; for a mode or class that overrides functions (overrides.py) it is one."""
    @functools.wraps(function)
    def initialize(tensor, *args, **kwargs):
        if _C._is_overridden((tensor,)):
            given = inspect.signature(function).bind(tensor, *args, **kwargs).arguments
            return _C._call_override(initialize, (tensor,), (), given)
        with no_grad():
            return function(tensor, *args, **kwargs)
    initialize.__module__ = "torch.nn.init"  # what modes look for
    return initialize


def calculate_gain(nonlinearity, param=None):
    """The factor by which weights before a nonlinearity are scaled to keep the variance; param: leaky_relu's slope."""
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    gain = _GAINS[nonlinearity]
    # harmless(param): it is leaky_relu's slope; others have none
    return int(gain) if gain == 1 else gain


@_initializes
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in a ... b."""
    return tensor.uniform_(a, b, generator=generator)


@_initializes
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal."""
    return tensor.normal_(mean, std, generator=generator)


def _probability(low, high):
    """The probability that a standard normal number lies between low and high."""
    return (math.erf(high / math.sqrt(2.0)) - math.erf(low / math.sqrt(2.0))) / 2.0


@_initializes
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal, with values outside a ... b drawn again."""
    low, high = (a - mean) / std, (b - mean) / std
    if low > 2 or high < -2:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
                      "incorrect.", stacklevel=2)
    # Every round draws for all places, so that the random numbers used do not depend on which were taken.
    if _probability(low, high) >= 0.3:
        tensor.normal_(mean, std, generator=generator)
        while (refused := (tensor < a) | (tensor > b)).any():
            tensor.copy_(_C.where(refused, _C.empty_like(tensor).normal_(mean, std, generator=generator), tensor))
        return tensor
    # Few normal numbers would be taken: uniform ones instead, each with its density over the largest one (Robert 1995).
    nearest = 0.0 if low <= 0 <= high else min(low * low, high * high)
    refused = _C.ones_like(tensor, dtype=_C.bool)
    while refused.any():
        proposed = _C.empty_like(tensor).uniform_(a, b, generator=generator)
        taken = (_C.empty_like(tensor).uniform_(0, 1, generator=generator)
                 <= ((nearest - ((proposed - mean) / std) ** 2) / 2).exp())
        tensor.copy_(_C.where(refused & taken, proposed, tensor))
        refused = refused & ~taken
    return tensor


@_initializes
def constant_(tensor, val):
    """Sets all elements to val."""
    return tensor.fill_(val)


@_initializes
def ones_(tensor):
    """Sets all elements to 1."""
    return tensor.fill_(1.0)


@_initializes
def zeros_(tensor):
    """Sets all elements to 0."""
    return tensor.zero_()


@_initializes
def eye_(tensor):
    """The identity matrix, in the part of it that a matrix holds."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(_C.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_initializes
def dirac_(tensor, groups=1):
    """Weights of a convolution that passes its input through, for as many channels as there are, in each group."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(per_group, tensor.size(1))):
            tensor[(group * per_group + channel, channel) + centre] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with the variance 2 gain^2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with the variance 2 gain^2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform with the variance gain^2 / fan (He et al. 2015)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with the variance gain^2 / fan (He et al. 2015)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _orthonormal_columns(matrix):
    """The Q of the QR decomposition with R's diagonal positive: Gram-Schmidt, twice against rounding, in float64."""
    matrix = matrix.to(_C.float64)
    q = _C.zeros_like(matrix)
    for j in range(matrix.size(1)):
        column = matrix[:, j]
        for _ in range(2):
            column = column - q[:, :j] @ (q[:, :j].t() @ column)
        q[:, j] = column / column.norm()
    return q


@_initializes
def orthogonal_(tensor, gain=1, generator=None):
    """A (semi-)orthogonal matrix times gain; dimensions after the first count as one (Saxe et al. 2013)."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    random = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q = _orthonormal_columns(random.t()).t() if rows < columns else _orthonormal_columns(random)
    return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


@_initializes
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, with the fraction `sparsity` of each column 0 (Martens 2010)."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[_C.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function):
    name = function.__name__
    old = name[:-1]

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    call.__name__ = call.__qualname__ = old
    return call


uniform, normal, constant, eye, dirac, sparse, orthogonal = (
    _deprecated(f) for f in (uniform_, normal_, constant_, eye_, dirac_, sparse_, orthogonal_))
xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal = (
    _deprecated(f) for f in (xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_))


_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_, _no_grad_fill_, _no_grad_zero_ = (
    uniform_, normal_, trunc_normal_, constant_, zeros_)  # names that programs import
