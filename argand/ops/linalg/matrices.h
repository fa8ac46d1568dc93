// Batches of matrices, for the ops of linear algebra.
#pragma once
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/cpu/linalg_scalar.h"

namespace argand::ops {

inline constexpr DtypeSet kMatrixTypes = cpu::linalg::kElements;

// ShapeError unless `t` has at least two dimensions and, if required, is square.
void check_matrices(const char* op, const Tensor& t, bool square, const char* name = "A");
// LinAlgError if an element of `info` is not 0; `what` makes the message from it.
void check_info(const char* op, const Tensor& info, std::string (*what)(int64_t));

inline int64_t rows_of(const Tensor& t) { return t.sizes()[t.dim() - 2]; }
inline int64_t columns_of(const Tensor& t) { return t.sizes()[t.dim() - 1]; }
inline int64_t batches_of(const Tensor& t) { return numel_of(t.sizes().slice(0, static_cast<size_t>(t.dim() - 2))); }
// The sizes of the batch, followed by those of a matrix.
inline Dims batch_and(const Tensor& t, std::initializer_list<int64_t> matrix) {
  Dims sizes(t.sizes().slice(0, static_cast<size_t>(t.dim() - 2)));
  for (const int64_t n : matrix) sizes.push_back(n);
  return sizes;
}
// Expands `t`, whose last `own` dimensions are not the batch's, to that batch.
inline Tensor with_batch(const Tensor& t, const Dims& batch, int64_t own) {
  Dims sizes = batch;
  for (const int64_t n : t.sizes().slice(static_cast<size_t>(t.dim() - own))) sizes.push_back(n);
  return t.expand(sizes);
}
// The transposed matrices as a view, without history.
inline Tensor transposed(const Tensor& t) {
  Dims sizes = t.impl().sizes, strides = t.impl().strides;
  const size_t last = sizes.size() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return exec::alias(t, sizes, strides, t.impl().offset);
}
// A copy in column-major order, which is a dense tensor of the transposed matrices.
inline Tensor in_columns(const Tensor& t) { return exec::dense_clone(transposed(t)); }
template <class T = void>
T* address(const Tensor& t) {
  return static_cast<T*>(t.impl().data());
}

using cpu::linalg::at_least_one, cpu::linalg::conjugated, cpu::linalg::each_matrix, cpu::linalg::real_of_t,
    cpu::linalg::real_part, cpu::linalg::size_of;

// Why the matrices of samples must have full rank; those of an expanded tensor have equal rows or columns.
inline constexpr const char* kFullRank =
    "a matrix with equal rows or columns has no inverse, and its factors are a matter of rounding";

}  // namespace argand::ops
