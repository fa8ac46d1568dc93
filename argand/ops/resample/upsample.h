// Shared parts of the upsample ops.
#pragma once
#include <optional>
#include <vector>

#include "argand/core/tensor.h"
#include "argand/kernels/api/resample.h"

namespace argand::ops {

struct Upsampling {
  const char* op;
  Filter filter;
  bool align_corners;
};

// [N, C, spatial...] with its spatial dimensions of `output_size`; scales where the user gave them.
Tensor upsample(const Upsampling& u, const Tensor& self, const Dims& output_size,
                const std::vector<std::optional<double>>& scales);

// The size of a result, given directly or by factors of the input's.
class Resized {
 public:
  Resized(const char* op, const Tensor& input, size_t spatial, const std::optional<Dims>& output_size,
          const std::optional<std::vector<double>>& scale_factors);
  const Dims& size() const { return size_; }
  std::optional<double> scale(size_t i) const { return scales_.empty() ? std::nullopt : std::optional(scales_[i]); }

 private:
  Dims size_;
  std::vector<double> scales_;
};

}  // namespace argand::ops
