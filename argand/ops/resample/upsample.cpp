#include "argand/ops/resample/upsample.h"

#include "argand/core/dispatch.h"
#include "argand/ops/functions.h"

namespace argand::ops {
Tensor upsample(const Upsampling& u, const Tensor& self, const Dims& output_size,
                const std::vector<std::optional<double>>& scales) {
  const auto spatial = static_cast<int64_t>(scales.size());
  ARGAND_CHECK(ShapeError, self.dim() == spatial + 2, u.op, ": It is expected input_size equals to ", spatial + 2,
               ", but got size ", self.dim());
  ARGAND_CHECK(ValueError, static_cast<int64_t>(output_size.size()) == spatial, u.op,
               ": It is expected output_size equals to ", spatial, ", but got size ", output_size.size());
  if (!is_nearest(u.filter) && !contains(kFloatingTypes, self.dtype())) throw_unsupported_dtype(u.op, self.dtype());
  for (int64_t d = 0; d < spatial; ++d)
    ARGAND_CHECK(ShapeError, self.size(d + 2) > 0 && output_size[static_cast<size_t>(d)] > 0, u.op,
                 ": Input and output sizes should be greater than 0, but got input ", self.sizes(), " and output ",
                 output_size);
  std::vector<double> given;
  for (const std::optional<double>& scale : scales) given.push_back(scale.value_or(0));
  const auto resampled = [&](const Tensor& t) {
    return _upsample(t, output_size, static_cast<int64_t>(u.filter), u.align_corners, given);
  };
  return self.is_complex() ? complex(resampled(real(self)), resampled(imag(self))) : resampled(self);
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
