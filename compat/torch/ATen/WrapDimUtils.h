// Dimensions that count from the end.
#pragma once
#include "argand/core/tensor.h"
#include "c10/util/Exception.h"

namespace c10 {
// `dim` in [-ndim, ndim) as one in [0, ndim), else IndexError.  A tensor of no dimensions has one, unless it is not to.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(ndim > 0 || wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions")
  const int64_t n = std::max<int64_t>(ndim, 1);
  TORCH_CHECK_INDEX(-n <= dim && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                    "], but got ", dim, ")")
  return dim < 0 ? dim + n : dim;
}
}  // namespace c10

namespace at {
inline int64_t maybe_wrap_dim(int64_t dim, const Tensor& t) { return c10::maybe_wrap_dim(dim, t.dim()); }
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors) {
  return tensors.empty() ? dim : c10::maybe_wrap_dim(dim, tensors[0].dim());
}
using c10::maybe_wrap_dim;
template <class Dimensions>
void maybe_wrap_dims(Dimensions& dims, int64_t ndim, bool wrap_scalars = true) {
  for (auto& dim : dims) dim = c10::maybe_wrap_dim(dim, ndim, wrap_scalars);
}
}  // namespace at
