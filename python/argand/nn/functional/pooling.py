"""Pooling."""
from ... import _C
from ..._ignored import harmless
from ..._tensor_arguments import need_tensors
from .._sizes import _list_with_default, _ntuple, _pair, _single, _triple

avg_pool1d, avg_pool2d, avg_pool3d = _C.avg_pool1d, _C.avg_pool2d, _C.avg_pool3d
adaptive_avg_pool1d = _C.adaptive_avg_pool1d


_BOTH = "both are returned, as in PyTorch"


def _max_pool(name):
    plain, with_indices = getattr(_C, name), getattr(_C, name + "_with_indices")

    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        """The maxima of windows; their positions too if return_indices."""
        return (with_indices if return_indices else plain)(input, kernel_size, [] if stride is None else stride,
                                                           padding,
                                                           dilation, ceil_mode)

    @harmless(return_indices=_BOTH)
    def pool_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                          return_indices=False):
        """The maxima of windows, and their positions."""
        return with_indices(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)
    pool.__name__ = pool.__qualname__ = name
    pool_with_indices.__name__ = pool_with_indices.__qualname__ = name + "_with_indices"
    return pool, pool_with_indices


max_pool1d, max_pool1d_with_indices = _max_pool("max_pool1d")
max_pool2d, max_pool2d_with_indices = _max_pool("max_pool2d")
max_pool3d, max_pool3d_with_indices = _max_pool("max_pool3d")


def adaptive_avg_pool2d(input, output_size):
    """Means of windows such that output_size (None: the input's) comes out."""
    return _C.adaptive_avg_pool2d(input, _list_with_default(output_size, input.shape))


def adaptive_avg_pool3d(input, output_size):
    """Means of windows such that output_size (None: the input's) comes out."""
    return _C.adaptive_avg_pool3d(input, _list_with_default(output_size, input.shape))


def _adaptive_max_pool(name):
    function = getattr(_C, name)

    def pool(input, output_size, return_indices=False):
        """Maxima of windows such that output_size comes out; their positions too if return_indices."""
        need_tensors(name, input=input)
        values, indices = function(input, _list_with_default(output_size, input.shape))
        return (values, indices) if return_indices else values

    @harmless(return_indices=_BOTH)
    def pool_with_indices(input, output_size, return_indices=False):
        """Maxima of windows such that output_size comes out, and their positions."""
        return pool(input, output_size, True)
    pool.__name__ = pool.__qualname__ = name
    pool_with_indices.__name__ = pool_with_indices.__qualname__ = name + "_with_indices"
    return pool, pool_with_indices


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool("adaptive_max_pool1d")
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool("adaptive_max_pool2d")
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool("adaptive_max_pool3d")


def _lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode):
    if norm_type == 0:
        raise ValueError(f"norm_type must be a non-zero value, but got {norm_type}")
    count = 1
    for size in kernel_size:
        count *= size
    means = pool(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (_C.sign(means) * _C.relu(_C.abs(means))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> "_C.Tensor":
    """The norm_type-norms of windows."""
    return _lp_pool(avg_pool1d, input, norm_type, _single(kernel_size), stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> "_C.Tensor":
    """The norm_type-norms of windows."""
    return _lp_pool(avg_pool2d, input, norm_type, _pair(kernel_size), stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False) -> "_C.Tensor":
    """The norm_type-norms of windows."""
    return _lp_pool(avg_pool3d, input, norm_type, _triple(kernel_size), stride, ceil_mode)


def _unpooled_size(input, kernel_size, stride, padding, output_size):
    n = len(kernel_size)
    default = [(size - 1) * s + k - 2 * p
               for size, k, s, p in zip(input.shape[-n:], kernel_size, stride, padding)]
    if output_size is None:
        return default
    output_size = list(output_size)
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                         f"'{len(output_size)}'")
    for d in range(n):
        least, most = default[d] - stride[d], default[d] + stride[d]
        if not least < output_size[d] < most:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {least} and {most})')
    return output_size


def _unpool_arguments(n, input, kernel_size, stride, padding, output_size):
    parse = _ntuple(n)
    kernel_size, padding = parse(kernel_size), parse(padding)
    stride = kernel_size if stride is None else parse(stride)
    return _unpooled_size(input, kernel_size, stride, padding, output_size), stride, padding


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> "_C.Tensor":
    """Puts maxima back to their places; zeros elsewhere."""
    size, _, _ = _unpool_arguments(1, input, kernel_size, stride, padding, output_size)
    return _C.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back to their places; zeros elsewhere."""
    size, _, _ = _unpool_arguments(2, input, kernel_size, stride, padding, output_size)
    return _C.max_unpool2d(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back to their places; zeros elsewhere."""
    return _C.max_unpool3d(input, indices, *_unpool_arguments(3, input, kernel_size, stride, padding, output_size))


def _fractional_max_pool(name, n):
    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        """Maxima of windows at random places such that output_size, or output_ratio times the input's, comes out."""
        for what, sizes in (("kernel_size", kernel_size), ("output_size", output_size)):
            if isinstance(sizes, (tuple, list)) and len(sizes) != n:
                raise RuntimeError(f"{name}: {what} must either be a single int, or tuple of {n} ints, got {sizes}")
        if output_size is None:
            if output_ratio is None:
                raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
            if len(_ntuple(n)(output_ratio)) != n:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = [int(size * ratio) for size, ratio in zip(input.shape[-n:], _ntuple(n)(output_ratio))]
        if _random_samples is None:
            batch = 1 if input.dim() == n + 1 else input.shape[0]
            _random_samples = _C.rand(batch, input.shape[-n - 1], n, dtype=input.dtype, device=input.device)
        values, indices = getattr(_C, name)(input, kernel_size, output_size, _random_samples)
        return (values, indices) if return_indices else values

    def pool_with_indices(*args, **kwargs):
        """Maxima of windows at random places, and their positions."""
        return pool(*args, **{**kwargs, "return_indices": True})
    pool.__name__ = pool.__qualname__ = name
    pool_with_indices.__name__ = pool_with_indices.__qualname__ = name + "_with_indices"
    return pool, pool_with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pool("fractional_max_pool2d", 2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pool("fractional_max_pool3d", 3)
