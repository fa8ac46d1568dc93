// Batches of matrices for the loops of linear algebra: dense and row-major.
#pragma once
#include <complex>

#include "argand/core/dispatch.h"
#include "argand/exec/invoke.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {

inline constexpr DtypeSet kMatrixTypes = kFloatTypes | kComplexTypes;

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
inline int64_t at_least_one(int64_t n) { return n < 1 ? 1 : n; }

// Calls f(index of a matrix), in parallel if each call takes `cost` steps.
template <class F>
void each_matrix(int64_t count, int64_t cost, F f) {
  parallel_for(0, count, at_least_one((int64_t{1} << 15) / at_least_one(cost)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
template <class T>
using real_of_t = typename real_of<T>::type;

template <class T>
T conjugated(T x) {
  if constexpr (is_complex_v<T>)
    return std::conj(x);
  else
    return x;
}
template <class T>
real_of_t<T> real_part(T x) {
  if constexpr (is_complex_v<T>)
    return x.real();
  else
    return x;
}
// The magnitude by which LAPACK chooses a pivot.
template <class T>
real_of_t<T> size_of(T x) {
  if constexpr (is_complex_v<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

// Computes P A = L U in place for m rows and n columns; row k was swapped with row pivots[k].  Returns the number of
// swaps. `zero` becomes the number, from 1, of the first pivot that is 0, or 0.
template <class T>
int64_t factor_lu(T* a, int64_t m, int64_t n, int64_t* pivots, int64_t& zero) {
  int64_t swaps = 0;
  zero = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (size_of(a[i * n + k]) > size_of(a[best * n + k])) best = i;
    pivots[k] = best;
    if (best != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
      ++swaps;
    }
    const T pivot = a[k * n + k];
    if (pivot == T(0)) {
      if (zero == 0) zero = k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) {
      const T f = a[i * n + k] / pivot;
      a[i * n + k] = f;
      if (f == T(0)) continue;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  return swaps;
}

// Replaces b [n, r] by the solution of A x = b for a triangular A with row stride n; ones: the diagonal counts as 1.
template <class T>
void solve_triangle(const T* a, int64_t n, T* b, int64_t r, bool upper, bool ones) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    const int64_t begin = upper ? i + 1 : 0, end = upper ? n : i;
    for (int64_t k = begin; k < end; ++k) {
      const T f = a[i * n + k];
      if (f == T(0)) continue;
      for (int64_t j = 0; j < r; ++j) b[i * r + j] -= f * b[k * r + j];
    }
    if (!ones)
      for (int64_t j = 0; j < r; ++j) b[i * r + j] /= a[i * n + i];
  }
}

// The same for the result of factor_lu.
template <class T>
void solve_lu(const T* lu, const int64_t* pivots, int64_t n, T* b, int64_t r) {
  for (int64_t k = 0; k < n; ++k)
    if (pivots[k] != k) std::swap_ranges(b + k * r, b + (k + 1) * r, b + pivots[k] * r);
  solve_triangle(lu, n, b, r, false, true);
  solve_triangle(lu, n, b, r, true, false);
}

}  // namespace argand::ops
