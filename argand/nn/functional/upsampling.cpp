#include "argand/nn/functional/upsampling.h"

#include <cmath>

#include "argand/ops/functions.h"

namespace argand::nn::functional {
namespace {

using Mode = InterpolateFuncOptions::mode_t;

template <class E>
bool is(const Mode& mode, E) {
  return std::holds_alternative<E>(mode);
}

// The size of the result, and the factors to it where positions follow from those instead.
struct Target {
  Dims size;
  std::vector<std::optional<double>> scales;
};

Target target_of(const Tensor& input, const InterpolateFuncOptions& o) {
  const auto spatial = static_cast<size_t>(input.dim() - 2);
  ARGAND_CHECK(ValueError, o.size() || o.scale_factor(), "interpolate: either size or scale_factor should be defined");
  ARGAND_CHECK(ValueError, !o.size() || !o.scale_factor(),
               "interpolate: only one of size or scale_factor should be defined");
  Target t{{}, std::vector<std::optional<double>>(spatial)};
  if (o.size()) {
    ARGAND_CHECK(ValueError, !o.recompute_scale_factor().value_or(false),
                 "interpolate: recompute_scale_factor is not meaningful with an explicit size.");
    t.size = Dims(IntArrayRef(*o.size()));
    if (t.size.size() == 1) t.size = Dims(spatial, t.size[0]);
    ARGAND_CHECK(ShapeError, t.size.size() == spatial, "interpolate: Input and output must have the same number of ",
                 "spatial dimensions, but got input with ", spatial, " spatial dimensions and output size ", t.size);
    return t;
  }
  std::vector<double> factors = *o.scale_factor();
  if (factors.size() == 1) factors.assign(spatial, factors[0]);
  ARGAND_CHECK(ShapeError, factors.size() == spatial,
               "interpolate: scale_factor shape must match input shape. Input is ", spatial, "D, scale_factor size is ",
               ArrayRef<double>(factors));
  for (size_t i = 0; i < spatial; ++i) {
    const double size = std::floor(static_cast<double>(input.sizes()[i + 2]) * factors[i]);
    ARGAND_CHECK(ValueError, size >= 0 && size < 0x1p62, "interpolate: expected finite positive scale factors, got ",
                 factors[i]);
    t.size.push_back(static_cast<int64_t>(size));
    if (!o.recompute_scale_factor().value_or(false)) t.scales[i] = factors[i];
  }
  return t;
}

Tensor antialiased(const Tensor& x, const Mode& mode, bool corners, const Target& t) {
  ARGAND_CHECK(ValueError, (is(mode, kBilinear) || is(mode, kBicubic)) && x.dim() == 4,
               "interpolate: Anti-alias option is only supported for bilinear and bicubic modes");
  return is(mode, kBilinear) ? _upsample_bilinear2d_aa(x, t.size, corners, t.scales[0], t.scales[1])
                             : _upsample_bicubic2d_aa(x, t.size, corners, t.scales[0], t.scales[1]);
}

Tensor resampled(const Tensor& x, const Mode& mode, bool corners, const Target& t) {
  const auto& s = t.scales;
  const int64_t dims = x.dim();
  if (is(mode, kArea))
    return dims == 3   ? adaptive_avg_pool1d(x, t.size)
           : dims == 4 ? adaptive_avg_pool2d(x, t.size)
                       : adaptive_avg_pool3d(x, t.size);
  if (is(mode, kNearest))
    return dims == 3   ? upsample_nearest1d(x, t.size, s[0])
           : dims == 4 ? upsample_nearest2d(x, t.size, s[0], s[1])
                       : upsample_nearest3d(x, t.size, s[0], s[1], s[2]);
  if (is(mode, kNearestExact))
    return dims == 3   ? _upsample_nearest_exact1d(x, t.size, s[0])
           : dims == 4 ? _upsample_nearest_exact2d(x, t.size, s[0], s[1])
                       : _upsample_nearest_exact3d(x, t.size, s[0], s[1], s[2]);
  const int64_t wanted = is(mode, kLinear) ? 3 : is(mode, kTrilinear) ? 5 : 4;
  ARGAND_CHECK(ShapeError, dims == wanted, "interpolate: Got ", dims, "D input, but ", enumtype::get_enum_name(mode),
               " mode needs ", wanted, "D input");
  if (is(mode, kLinear)) return upsample_linear1d(x, t.size, corners, s[0]);
  if (is(mode, kTrilinear)) return upsample_trilinear3d(x, t.size, corners, s[0], s[1], s[2]);
  return is(mode, kBilinear) ? upsample_bilinear2d(x, t.size, corners, s[0], s[1])
                             : upsample_bicubic2d(x, t.size, corners, s[0], s[1]);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  ARGAND_CHECK(ShapeError, input.dim() >= 3 && input.dim() <= 5,
               "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(),
               "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ",
               enumtype::get_enum_name(o.mode()), ")");
  const bool picks = is(o.mode(), kNearest) || is(o.mode(), kArea) || is(o.mode(), kNearestExact);
  // LibTorch lets kNearestExact have it.
  ARGAND_CHECK(ValueError, !picks || is(o.mode(), kNearestExact) || !o.align_corners(),
               "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | "
               "bicubic | trilinear");
  const Target t = target_of(input, o);
  const bool corners = o.align_corners().value_or(false);
  return o.antialias() ? antialiased(input, o.mode(), corners, t) : resampled(input, o.mode(), corners, t);
}

}  // namespace argand::nn::functional
