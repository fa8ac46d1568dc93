"""Dropout: of elements, of channels, and the kinds that keep mean and variance for SELU."""
import warnings

from ... import _C


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False) -> "_C.Tensor":
    """Zeroes elements with probability p and scales the others by 1 / (1 - p), if training."""
    _check(p)
    return (_C.dropout_ if inplace else _C.dropout)(input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False) -> "_C.Tensor":
    """Dropout that keeps mean and variance of what comes out of a SELU."""
    _check(p)
    return (_C.alpha_dropout_ if inplace else _C.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False) -> "_C.Tensor":
    """alpha_dropout() of whole channels."""
    _check(p)
    return (_C.feature_alpha_dropout_ if inplace else _C.feature_alpha_dropout)(input, p, training)


def _channels(input, p, training, inplace, unbatched):
    """Zeroes whole channels; an input without a batch gets one for the call."""
    if unbatched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (_C.feature_dropout_ if inplace else _C.feature_dropout)(input, p, training)
    if unbatched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def _expected_dims(n, dims):
    return (f"channel-wise dropout on inputs with {n} spatial dimension{'s' if n > 1 else ''}, a channel dimension, "
            f"and an optional batch dimension (i.e. {dims} inputs).")


def dropout1d(input, p=0.5, training=True, inplace=False) -> "_C.Tensor":
    """Zeroes channels of [N, C, L] or [C, L]."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
                           "dropout1d exists to provide " + _expected_dims(1, "2D or 3D"))
    return _channels(input, p, training, inplace, input.dim() == 2)


def _warn_dims(name, input, n, dims):
    warnings.warn(f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an "
                  "error in a future release. To retain the behavior and silence this warning, please use dropout "
                  f"instead. Note that {name} exists to provide " + _expected_dims(n, dims), stacklevel=3)


def dropout2d(input, p=0.5, training=True, inplace=False) -> "_C.Tensor":
    """Zeroes channels of [N, C, H, W]; [N, C, L] is taken as dropout1d() takes it."""
    _check(p)
    if input.dim() not in (3, 4):
        _warn_dims("dropout2d", input, 2, "3D or 4D")
    if input.dim() == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
                      "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
                      "will change in a future release to interpret the input as one without a batch dimension, i.e. "
                      "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
                      "dropout1d instead.",
                      stacklevel=2)
    return _channels(input, p, training, inplace, False)


def dropout3d(input, p=0.5, training=True, inplace=False) -> "_C.Tensor":
    """Zeroes channels of [N, C, D, H, W] or [C, D, H, W]."""
    _check(p)
    if input.dim() not in (4, 5):
        _warn_dims("dropout3d", input, 3, "4D or 5D")
    return _channels(input, p, training, inplace, input.dim() == 4)
