// torch::linalg: those of its functions that there are.
#pragma once
#include "torch/types.h"

namespace torch::linalg {

inline Tensor cross(const Tensor& self, const Tensor& other, int64_t dim = -1) {
  return at::linalg_cross(self, other, dim);
}
inline Tensor vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt,
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return at::linalg_vector_norm(self, ord, dim, keepdim, dtype);
}

}  // namespace torch::linalg
