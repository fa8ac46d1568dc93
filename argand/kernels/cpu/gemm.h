// Matrix products on raw memory: C = alpha * A * B + beta * C (+ bias), for every dtype.
//
// A and B have any strides, so a transpose, a slice or an expanded operand needs no copy.  The rows of C are dense.
// float and double run on packed AVX-512 or AVX2 kernels where the machine has them, with fused multiply-add; Half and
// BFloat16 accumulate in float and are rounded once, at the end; integers wrap around; bool is OR of ANDs.
//
// Determinism: the result depends on sizes and strides only, never on the number of threads (k is never split).
// Thread safety: may be called from any number of threads.  Throws OutOfMemoryError when there is no memory to pack
// into.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

#include "argand/base/reduced_float.h"

namespace argand {

// The type of alpha, beta and sums.
template <class T>
using GemmMath = typename std::conditional_t<ReducedFloat<T>, std::type_identity<float>, std::type_identity<T>>::type;

// Element (i, j) is data[i * row_stride + j * col_stride].  Strides may be 0 or negative.
template <class T>
struct ConstMatrix {
  const T* data;
  int64_t row_stride;
  int64_t col_stride;

  ConstMatrix transposed() const { return {data, col_stride, row_stride}; }
};

template <class T>
struct GemmArgs {
  int64_t m, n, k;
  ConstMatrix<T> a;      // [m, k]
  ConstMatrix<T> b;      // [k, n]
  T* c;                  // [m, n]; must not overlap A, B or the bias
  int64_t c_row_stride;  // >= n
  GemmMath<T> alpha = GemmMath<T>(1);
  GemmMath<T> beta = GemmMath<T>(0);  // 0: C is not read, it may hold anything
  const T* bias = nullptr;            // [n], added to every row
};

// REQUIRES: m, n, k >= 0.  With k == 0 the product is zero.
template <class T>
void gemm(const GemmArgs<T>& args);

// gemm for i = 0 ... batch - 1 with A, B and C moved by i times their batch strides (that of C so that no two overlap).
template <class T>
void gemm_batched(int64_t batch, const GemmArgs<T>& first, int64_t a_stride, int64_t b_stride, int64_t c_stride);

}  // namespace argand
