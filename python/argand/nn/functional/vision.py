"""Functions of images: shuffles of pixels, interpolation, sampling on grids."""
import math
import numbers
import warnings

from ... import _C
from .pooling import adaptive_avg_pool2d, adaptive_avg_pool3d


pixel_shuffle, pixel_unshuffle, channel_shuffle = _C.pixel_shuffle, _C.pixel_unshuffle, _C.channel_shuffle
native_channel_shuffle = _C.channel_shuffle

_WITHOUT_CORNERS = ("nearest", "area", "nearest-exact")
# The op for a mode and a number of input dimensions.
_RESAMPLERS = {
    ("nearest", 3): "upsample_nearest1d", ("nearest", 4): "upsample_nearest2d", ("nearest", 5): "upsample_nearest3d",
    ("nearest-exact", 3): "_upsample_nearest_exact1d", ("nearest-exact", 4): "_upsample_nearest_exact2d",
    ("nearest-exact", 5): "_upsample_nearest_exact3d", ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d", ("trilinear", 5): "upsample_trilinear3d",
    ("bicubic", 4): "upsample_bicubic2d"}
_MODE_DIMS = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _per_dim(value, input, what, letter):
    """`value` for each spatial dimension."""
    dims = input.dim() - 2
    if not isinstance(value, (list, tuple)):
        return [value] * dims
    if len(value) != dims:
        shown = "output size of" if what == "output" else "scale_factor of shape"
        name = "output size" if what == "output" else "scale_factor"
        raise ValueError(f"Input and {what} must have the same number of spatial dimensions, but got input with "
                         f"spatial dimensions of {list(input.shape[2:])} and {shown} {value}. Please provide input "
                         f"tensor in (N, C, d1, d2, ...,dK) format and {name} in ({letter}1, {letter}2, ...,{letter}K) "
                         "format.")
    return list(value)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False) -> "_C.Tensor":
    """Resamples [N, C, *] to `size`, or by scale_factor: nearest, nearest-exact, linear, bilinear, bicubic, trilinear,
    area."""
    if mode in _WITHOUT_CORNERS:
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                             "bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    output_size = None if size is None else _per_dim(size, input, "output", "o")
    if output_size is not None and not all(
            isinstance(n, numbers.Integral) or isinstance(n, _C.Tensor) and not n.is_floating_point() for n in output_size):
        raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
                        f"{[type(n) for n in output_size]}")
    scales = None if scale_factor is None else _per_dim(scale_factor, input, "scale_factor", "s")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if output_size is None and (mode == "area" or recompute_scale_factor):
        output_size = [math.floor(n * s) for n, s in zip(input.shape[2:], scales)]
        scales = None
    scales = None if scales is None else [float(s) for s in scales]
    dim = input.dim()
    if input.dtype is _C.uint8 and mode in ("bilinear", "bicubic") and dim == 4:
        # Images: what float32 gives, rounded; PyTorch's fixed-point weights give the same within 1.
        exact = interpolate(input.float(), size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
        return exact.round_().clamp_(0, 255).to(_C.uint8)
    if antialias:
        if mode not in ("bilinear", "bicubic") or dim != 4:
            raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor "
                             "as input")
        return getattr(_C, f"_upsample_{mode}2d_aa")(input, output_size, align_corners, scales)
    if mode == "area" and dim in (3, 4, 5):
        return {3: _C.adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}[dim](input, output_size)
    name = _RESAMPLERS.get((mode, dim))
    if name is None:
        if dim in (3, 4, 5) and mode in _MODE_DIMS:
            raise NotImplementedError(f"Got {dim}D input, but {mode} mode needs {_MODE_DIMS[mode]}D input")
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dim}D) for the "
                                  "modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
                                  f"(got {mode})")
    if mode in _WITHOUT_CORNERS:
        return getattr(_C, name)(input, output_size, scales)
    return getattr(_C, name)(input, output_size, align_corners, scales)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None) -> "_C.Tensor":
    """interpolate() by its older name."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None) -> "_C.Tensor":
    """interpolate() in mode "nearest"."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None) -> "_C.Tensor":
    """interpolate() in mode "bilinear" with aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_GRID_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_GRID_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """input [N, C, *] at the places of grid [N, *, D], which go from -1 to 1."""
    if mode not in _GRID_MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                         f"got: '{mode}'")
    if padding_mode not in _GRID_PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
                         f"but got: '{padding_mode}'")
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
                      "Please specify align_corners=True if the old behavior is desired. See the documentation of "
                      "grid_sample for details.", stacklevel=2)
        align_corners = False
    return _C.grid_sampler(input, grid, _GRID_MODES[mode], _GRID_PADDINGS[padding_mode], align_corners)


def affine_grid(theta, size, align_corners=None):
    """The grid of grid_sample() for the affine maps theta [N, 2, 3] or [N, 3, 4] and an output of `size`."""
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
                      "Please specify align_corners=True if the old behavior is desired. See the documentation of "
                      "grid_sample for details.", stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    shapes = {4: "2D affine matrices of shape Nx2x3", 5: "3D affine matrices of shape Nx3x4"}
    if len(size) not in shapes:
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
                                  f"{size}.")
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (len(size) - 2, len(size) - 1):
        raise ValueError(f"Expected a batch of {shapes[len(size)]} for size {size}. Got {theta.shape}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners and 1 in size[2:]:
        warnings.warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. It has no "
                      "extent along a dimension of size 1, where all points are in the middle. See the documentation of affine_grid for "
                      "details.", stacklevel=2)
    return _C.affine_grid_generator(theta, size, align_corners)
