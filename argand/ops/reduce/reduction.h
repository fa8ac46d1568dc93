// Shared parts of the definitions of reductions.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/api/reduce.h"
#include "argand/ops/dim_split.h"

namespace argand::ops {

// The dtype a reduction computes in: float32 for float16 and bfloat16, int64 for integers and bool.
constexpr ScalarType accumulator_type(ScalarType t) { return is_integral(t, true) ? kLong : op_math_type(t); }

// `dim` of a schema (nothing or empty: all dimensions), wrapped and checked.
Dims reduced_dims(const Tensor& self, const std::optional<Dims>& dim, const char* op);

// Expands the gradient (or a value) of a reduced tensor to `sizes`, with the reduced dimensions restored.
Tensor expand_reduced(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim);
// The same for one dimension.
inline Tensor expand_reduced(const Tensor& reduced, IntArrayRef sizes, int64_t dim, bool keepdim) {
  return expand_reduced(reduced, sizes, Dims{dim}, keepdim);
}
// Restores reduced dimensions as dimensions of size 1.
Tensor unreduce(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim);

// The number of elements that are reduced to one: the product of the sizes of `dims`.
int64_t reduced_numel(const Tensor& self, IntArrayRef dims);

// out[k] = t[k - 1] along dim (t[k + 1] unless `later`), and `fill` where there is none; for gradients.
Tensor shifted(const Tensor& t, int64_t dim, bool later, double fill);

// Reduces `self` over `dims` into the contiguous `out`, in accumulator_type(`as`), finishes and then converts; `as` is
// out's dtype unless given.  `center`: memory of self's device, of the type of the arithmetic.
struct ReduceOptions {
  double parameter = 0;
  const void* center = nullptr;
  ReduceFinish finish = ReduceFinish::kNone;
  double number = 0;  // the argument of `finish`
  std::optional<ScalarType> as = {};
};
void reduce_into(const Tensor& out, ReduceKind kind, const Tensor& self, IntArrayRef dims,
                 const ReduceOptions& options = {});

// ValueError, starting with `op`, if there is no element to choose from.
void check_not_empty(const char* op, const Tensor& self, IntArrayRef dims);

// The gradient of elements chosen along `dim`, at the positions they were chosen from.
Tensor put_back(const Tensor& g, const Tensor& index, IntArrayRef sizes, int64_t dim, bool keepdim);
// The gradient of a value chosen along `dim` (none: from all elements), shared equally by the elements that equal it.
Tensor share_among_equals(const Tensor& g, const Tensor& self, const Tensor& result, const Dims& dim = {},
                          bool keepdim = false);

}  // namespace argand::ops
