"""Normalizations."""
import math

from ... import _C
from .padding import pad
from .pooling import avg_pool2d, avg_pool3d

rms_norm = _C.rms_norm


def _check_batch(size):
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {_C.Size(size)}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of [N, C, *]: the batch's statistics if
    training, which the running ones follow; else the running ones."""
    if training:
        _check_batch(input.shape)
    return _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1,
                  eps=1e-5):
    """batch_norm() with the statistics of each sample by itself."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return _C.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions."""
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalizes groups of channels of each sample of [N, C, *]."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _check_batch([input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]])
    return _C.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0) -> "_C.Tensor":
    """x / (k + alpha * mean of squares over `size` neighbouring channels) ** beta, for [N, C, L, ...]."""
    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    around = (size // 2, (size - 1) // 2)
    if dim == 3:
        means = avg_pool2d(pad(squares.unsqueeze(1), (0, 0, *around)), (size, 1), stride=1).squeeze(1)
    else:
        n, c, first = input.shape[:3]
        planes = pad(squares.reshape(n, 1, c, first, -1), (0, 0, 0, 0, *around))
        means = avg_pool3d(planes, (size, 1, 1), stride=1).squeeze(1).reshape(input.shape)
    return input / means.mul(alpha).add(k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None) -> "_C.Tensor":
    """x divided by its p-norm along dim, which counts as eps at least."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else _C.div(input, norm, out=out)
