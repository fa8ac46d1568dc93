// What the definitions of reductions share.
#pragma once
#include "argand/base/function_ref.h"
#include "argand/core/tensor.h"
#include "argand/kernels/cpu/reduce.h"

namespace argand::ops {

// The dtype a reduction computes in: float32 for float16 and bfloat16, int64 for integers and bool.
constexpr ScalarType accumulator_type(ScalarType t) { return is_integral(t, true) ? kLong : op_math_type(t); }

// `dim` of a schema (nothing or empty: all dimensions), wrapped and checked.
Dims reduced_dims(const Tensor& self, const std::optional<Dims>& dim, const char* op);

// The gradient (or a value) of a reduced tensor, with the reduced dimensions back and expanded to `sizes`.
Tensor expand_reduced(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim);
// The same for one dimension.
inline Tensor expand_reduced(const Tensor& reduced, IntArrayRef sizes, int64_t dim, bool keepdim) {
  return expand_reduced(reduced, sizes, Dims{dim}, keepdim);
}
// Reduced dimensions back as dimensions of size 1.
Tensor unreduce(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim);

// How many elements become one: the product of the sizes of `dims`.
int64_t reduced_numel(const Tensor& self, IntArrayRef dims);

// out[k] = t[k - 1] along dim (t[k + 1] unless `later`), and `fill` where there is none; for gradients.
Tensor shifted(const Tensor& t, int64_t dim, bool later, double fill);

// Reduces `self` over `dims` into the contiguous `out`, in accumulator_type(`as`), then converts; `as` is out's dtype
// unless given.  `finish(values, n)` may change the values before they are converted.
struct ReduceOptions {
  double parameter = 0;
  const void* center = nullptr;
  std::optional<ScalarType> as = {};
};
void reduce_into(
    const Tensor& out, cpu::ReduceKind kind, const Tensor& self, IntArrayRef dims, const ReduceOptions& options = {},
    function_ref<void(void*, int64_t)> finish = [](void*, int64_t) {});

// ValueError if there is no element to choose from: `op`: ....
void check_not_empty(const char* op, const Tensor& self, IntArrayRef dims);

// Sizes around one dimension of a contiguous tensor.
struct DimSplit {
  int64_t outer = 1, size = 1, inner = 1;
  DimSplit(IntArrayRef sizes, int64_t dim) {
    for (size_t d = 0; d < sizes.size(); ++d)
      (static_cast<int64_t>(d) < dim ? outer : static_cast<int64_t>(d) > dim ? inner : size) *= sizes[d];
  }
};

}  // namespace argand::ops
