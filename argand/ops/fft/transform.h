// Shared parts of the torch.fft functions: they convert arguments to those of the three transforms.
#pragma once
#include <optional>
#include <string>

#include "argand/core/dispatch.h"
#include "argand/core/tensor.h"
#include "argand/ops/samples.h"

namespace argand::ops {

// For samples: integers are transformed in float32 there, and in float64 on the CPU.
inline Accuracy in_single_precision() { return {16, "sums whose terms cancel are computed in float32 there", kCUDA}; }

// The input's dtype: integers become floating point.  Half precision is allowed on GPUs only, as in PyTorch.
inline constexpr DtypeSet kSpectralTypes = kFloatTypes | kIntTypes | kBoolType | kComplexTypes;
inline constexpr DtypeSet kRealSpectralTypes = kFloatTypes | kIntTypes | kBoolType;

// `normalization` of the three transforms.
inline constexpr int64_t kUnscaled = 0, kByRootN = 1, kByN = 2;
// "backward" (or none) divides the inverse by n, "forward" the forward transform, "ortho" both by its root.
int64_t normalization_of(const char* op, const std::optional<std::string>& norm, bool forward);

// ValueError unless there is a point to transform, or a dimension.
void check_points(const char* op, int64_t n);
void check_any(const char* op, const Dims& dims);
Dims without_last(const Dims& dims);
// Converts to the dtype that is transformed.
Tensor spectral(const Tensor& self, bool needs_complex);
// Truncates or zero-pads to sizes[i] points along dims[i].
Tensor resized(const Tensor& self, const Dims& dims, const Dims& sizes);

// A transform along one dimension.
struct LineTransform {
  const char* op;
  std::optional<int64_t> n;
  int64_t dim;
  std::optional<std::string> norm;
  bool forward;
  Tensor from_complex(const Tensor& self) const;
  Tensor from_real(const Tensor& self, bool onesided) const;  // any tensor that is not complex
  Tensor to_real(const Tensor& self) const;
};

}  // namespace argand::ops
