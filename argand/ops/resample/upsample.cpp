#include "argand/ops/resample/upsample.h"

#include <cmath>

#include "argand/core/dispatch.h"
#include "argand/ops/functions.h"
#include "argand/ops/resample/taps.h"

namespace argand::ops {
namespace {

Taps taps_of(const Upsampling& u, const Positions& p, bool single) {
  switch (u.filter) {
    case Filter::kNearest:
      return nearest_taps(p, false);
    case Filter::kNearestExact:
      return nearest_taps(p, true);
    case Filter::kLinear:
      return linear_taps(p, single);
    case Filter::kCubic:
      return cubic_taps(p, single);
    case Filter::kLinearAntialias:
      return antialias_taps(p, single, false);
    default:
      return antialias_taps(p, single, true);
  }
}

}  // namespace

Tensor upsample(const Upsampling& u, const Tensor& self, const Dims& output_size,
                const std::vector<std::optional<double>>& scales) {
  const auto spatial = static_cast<int64_t>(scales.size());
  ARGAND_CHECK(ShapeError, self.dim() == spatial + 2, u.op, ": It is expected input_size equals to ", spatial + 2,
               ", but got size ", self.dim());
  ARGAND_CHECK(ValueError, static_cast<int64_t>(output_size.size()) == spatial, u.op,
               ": It is expected output_size equals to ", spatial, ", but got size ", output_size.size());
  const bool nearest = u.filter == Filter::kNearest || u.filter == Filter::kNearestExact;
  if (!nearest && !contains(kFloatingTypes, self.dtype())) throw_unsupported_dtype(u.op, self.dtype());
  for (int64_t d = 0; d < spatial; ++d)
    ARGAND_CHECK(ShapeError, self.size(d + 2) > 0 && output_size[static_cast<size_t>(d)] > 0, u.op,
                 ": Input and output sizes should be greater than 0, but got input ", self.sizes(), " and output ",
                 output_size);
  Tensor x = self;
  for (int64_t d = spatial; d-- > 0;) {
    const auto i = static_cast<size_t>(d);
    const Positions p{self.size(d + 2), output_size[i], u.align_corners, scales[i]};
    x = resample(x, d + 2, taps_of(u, p, self.dtype() != kDouble));
  }
  return x.to(self.dtype());
}

Resized::Resized(const char* op, const Tensor& input, size_t spatial, const std::optional<Dims>& output_size,
                 const std::optional<std::vector<double>>& scale_factors) {
  ARGAND_CHECK(ValueError, output_size.has_value() != scale_factors.has_value(), op,
               ": Must specify exactly one of output_size and scale_factors");
  if (output_size) {
    size_ = *output_size;
    return;
  }
  ARGAND_CHECK(ValueError, scale_factors->size() == spatial, op, ": expected ", spatial, " scale factors, got ",
               scale_factors->size());
  ARGAND_CHECK(ShapeError, input.sizes().size() == spatial + 2, op, ": It is expected input_size equals to ",
               spatial + 2, ", but got size ", input.dim());
  scales_ = *scale_factors;
  for (size_t i = 0; i < spatial; ++i) {
    const double size = static_cast<double>(input.sizes()[i + 2]) * scales_[i];
    ARGAND_CHECK(ValueError, size >= 0 && size < 0x1p62, op, ": expected finite positive scale factors, got ",
                 scales_[i]);
    size_.push_back(static_cast<int64_t>(size));
  }
}

}  // namespace argand::ops
