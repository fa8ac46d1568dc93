"""Activations."""
import warnings

from ... import _C

tanhshrink, softsign, hardshrink, softshrink, prelu = _C.tanhshrink, _C.softsign, _C.hardshrink, _C.softshrink, _C.prelu
gelu, logsigmoid, softplus, tanh, sigmoid = _C.gelu, _C.log_sigmoid, _C.softplus, _C.tanh, _C.sigmoid
relu_, elu_, celu_, selu_, leaky_relu_ = _C.relu_, _C.elu_, _C.celu_, _C.selu_, _C.leaky_relu_
hardtanh_, threshold_ = _C.hardtanh_, _C.threshold_


def threshold(input, threshold, value, inplace=False) -> "_C.Tensor":
    """x where x > threshold, value elsewhere."""
    return (_C.threshold_ if inplace else _C.threshold)(input, threshold, value)


def relu(input, inplace=False):
    """max(x, 0)"""
    return _C.relu_(input) if inplace else _C.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6)"""
    return _C.relu6_(input) if inplace else _C.relu6(input)


def glu(input, dim=-1):
    """The first half along dim times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _C.glu(input, dim)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False) -> "_C.Tensor":
    """x within min_val ... max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_C.hardtanh_ if inplace else _C.hardtanh)(input, min_val, max_val)


def elu(input, alpha=1.0, inplace=False) -> "_C.Tensor":
    """x where x > 0, alpha (exp(x) - 1) elsewhere."""
    return (_C.elu_ if inplace else _C.elu)(input, alpha)


def selu(input, inplace=False):
    """The ELU whose constants keep mean 0 and variance 1."""
    return _C.selu_(input) if inplace else _C.selu(input)


def celu(input, alpha=1.0, inplace=False) -> "_C.Tensor":
    """max(x, 0) + min(0, alpha (exp(x / alpha) - 1))"""
    return (_C.celu_ if inplace else _C.celu)(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False) -> "_C.Tensor":
    """x where x > 0, negative_slope x elsewhere."""
    return (_C.leaky_relu_ if inplace else _C.leaky_relu)(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False) -> "_C.Tensor":
    """The leaky ReLU with slopes drawn from lower ... upper for each element; their mean if not training."""
    result = _C.rrelu(input, lower, upper, training)
    return input.copy_(result) if inplace else result


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False) -> "_C.Tensor":
    """rrelu() in place."""
    return rrelu(input, lower, upper, training, inplace=True)


def hardsigmoid(input, inplace=False):
    """min(max(x + 3, 0), 6) / 6"""
    return _C.hardsigmoid_(input) if inplace else _C.hardsigmoid(input)


def hardswish(input, inplace=False):
    """x hardsigmoid(x)"""
    return _C.hardswish_(input) if inplace else _C.hardswish(input)


def silu(input, inplace=False):
    """x sigmoid(x)"""
    return _C.silu_(input) if inplace else _C.silu(input)


def mish(input, inplace=False):
    """x tanh(softplus(x))"""
    return _C.mish_(input) if inplace else _C.mish(input)


def _implicit_dim(name, ndim, stacklevel):
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) along dim."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    # harmless(_stacklevel): it places a warning that comes only where dim is missing
    return _C.softmax(input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax of -x."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    # harmless(_stacklevel): it places a warning that comes only where dim is missing
    return _C.softmax(-input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax along dim."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    # harmless(_stacklevel): it places a warning that comes only where dim is missing
    return _C.log_softmax(input, dim, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1) -> "_C.Tensor":
    """Samples of the Gumbel-softmax distribution; one-hot if hard, with the gradient of the soft ones."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -_C.empty_like(logits, memory_format=_C.contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = _C.zeros_like(logits, memory_format=_C.contiguous_format).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
