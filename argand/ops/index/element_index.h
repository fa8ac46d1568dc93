// One index per element along one dimension, as in gather and the scatter ops.
#pragma once
#include <complex>

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/cpu/runs.h"
#include "argand/ops/functions.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {

// index must have the rank of `t`, and outside of dim (unless `check_at_dim`) no larger sizes; without elements, it may
// have any shape.
inline void check_element_index(const char* op, const Tensor& t, const char* t_name, const Tensor& index, int64_t dim,
                                bool check_at_dim) {
  ARGAND_CHECK(DtypeError, argand::is_integral(index.dtype()), op, ": expected dtype int64 for index, got ",
               index.dtype());
  if (index.numel() == 0) return;
  ARGAND_CHECK(ShapeError, std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(t.dim(), 1), op,
               ": Index tensor must have the same number of dimensions as ", t_name, " tensor, got ", index.sizes(),
               " and ", t.sizes());
  ARGAND_CHECK(ShapeError, !check_at_dim || (t.dim() > 0 ? t.numel() > 0 : index.numel() == 1), op,
               ": Size does not match at dimension 0 expected index ", index.sizes(), " to be no larger than ", t_name,
               " ", t.sizes());
  for (int64_t d = 0; d < std::min(index.dim(), t.dim()); ++d) {
    if (d == dim && !check_at_dim) continue;
    ARGAND_CHECK(ShapeError, index.sizes()[d] <= t.sizes()[d], op, ": Size does not match at dimension ", d,
                 " expected index ", index.sizes(), " to be no larger than ", t_name, " ", t.sizes(),
                 " apart from dimension ", dim);
  }
}

// The strides of `t`, with as many dimensions as `index` has: a number may stand for a vector of one, and the reverse.
inline Dims strides_for(const Tensor& index, const Tensor& t) {
  Dims strides(index.dim(), 0);
  for (int64_t d = 0; d < std::min(index.dim(), t.dim()); ++d) strides[d] = t.impl().strides[d];
  return strides;
}

// Strides along which the elements of `index` run through `t`; along dim the index itself moves.
inline Dims strides_without(const Tensor& index, const Tensor& t, int64_t dim) {
  Dims strides = strides_for(index, t);
  if (!strides.empty()) strides[dim] = 0;
  return strides;
}

// The corner of src that is used; src may be larger than index.
inline Tensor corner(const Tensor& src, const Tensor& index) {
  if (index.numel() == 0) return src;
  return exec::dense(exec::alias(src, index.impl().sizes, strides_for(index, src), src.storage_offset()));
}

// The type in which elements with the same position are added.
template <class T>
struct LongSum {
  using type = op_math_t<T>;
};
template <>
struct LongSum<float> {
  using type = double;
};
template <>
struct LongSum<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using long_sum_t = typename LongSum<T>::type;

// Sums of up to this many elements, on average, are those of PyTorch: in float32, one element after the other.
inline constexpr int64_t kShortSum = 64;

inline constexpr int64_t kElementIndexGrain = 1 << 15;

// Visits the elements of `index`: run(position in index, offset in t without dim, stride, length).  With `split`, in
// parallel along dimension 0, whose parts of `t` are disjoint unless it is dim.
template <class Run>
void for_each_index(const Tensor& index, const Tensor& t, int64_t dim, bool split, Run run) {
  const Dims strides = strides_without(index, t, dim);
  const int64_t n = index.numel(), first = index.dim() == 0 || n == 0 ? 1 : index.sizes()[0];
  const int64_t each = n / first;
  const auto walk = [&](int64_t begin, int64_t end) {
    int64_t i = begin * each;
    cpu::for_each_run(index.sizes(), strides, i, (end - begin) * each,
                      [&](int64_t offset, int64_t stride, int64_t length) {
                        run(i, offset, stride, length);
                        i += length;
                      });
  };
  if (n == 0) return;
  if (split)
    parallel_for(0, first, std::max<int64_t>(1, kElementIndexGrain / each), walk);
  else
    walk(0, first);
}

// The gradient of src in a scatter: src may be larger than index, and its outer elements were not read.
inline Tensor grad_of_source(const Tensor& part, IntArrayRef src_sizes) {
  if (part.sizes() == src_sizes) return part;
  const Tensor out = zeros(src_sizes, part.options());
  if (part.numel() > 0) out.as_strided(part.sizes(), strides_for(part, out)).copy_(part);
  return out;
}

}  // namespace argand::ops
