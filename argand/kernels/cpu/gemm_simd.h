// The inner kernels of gemm, compiled once per instruction set (gemm_simd.inc), and the tables to reach them by.
#pragma once
#include <cstdint>

#include "argand/kernels/cpu/gemm.h"
#include "argand/kernels/cpu/vector_unit.h"

namespace argand::detail {

// C[rows, columns] = alpha * A * B + beta * C + bias for a small block of C: at most max_rows by max_columns.
// A has any strides.  The rows of B are dense, b_stride apart; if b_is_padded, max_columns elements of each can be
// read.
template <class T>
struct GemmTile {
  int64_t rows, columns, k;
  const T* a;
  int64_t a_row_stride, a_k_stride;
  const T* b;
  int64_t b_stride;
  bool b_is_padded;
  T* c;
  int64_t c_stride;
  T alpha, beta;
  const T* bias;  // may be null
};

// Source (i, k) is data[i * stride + k * k_stride], 0 <= i < count, 0 <= k < k_count.
template <class T>
struct PanelSource {
  const T* data;
  int64_t stride, k_stride;
  int64_t count, k_count;
};

// y[i] = alpha * sum_k A(i, k) x[k] + beta * y[i] + bias.  y is dense.
template <class T>
struct GemvArgs {
  int64_t m, k;
  const T* a;
  int64_t a_row_stride, a_k_stride;
  const T* x;
  int64_t x_stride;
  T* y;
  T alpha, beta;
  const T* bias;        // may be null
  int64_t bias_stride;  // 0: one number for all
};

template <class T>
struct GemmKernels {
  int64_t max_rows, max_columns, lanes;
  // Every element is one chain of multiply-adds in the order of k, in every block: how C is cut into tiles does not
  // affect the result.
  void (*tile)(const GemmTile<T>&);
  // panel[k * width + i] = source(i, k), and 0 for count <= i < width.
  void (*pack)(const PanelSource<T>&, T* panel, int64_t width);
  // to[k * stride + i] = source(i, k), and nothing else.  REQUIRES k_stride == 1.
  void (*turn)(const PanelSource<T>&, T* to, int64_t stride);
  // REQUIRES a_k_stride == 1 and x_stride == 1.
  void (*gemv_rows)(const GemvArgs<T>&);
  // REQUIRES a_row_stride == 1.
  void (*gemv_columns)(const GemvArgs<T>&);
};

template <class T>
const GemmKernels<T>& gemm_kernels(cpu::VectorUnit unit);

}  // namespace argand::detail

#define ARGAND_DECLARE_GEMM_KERNELS(unit)                \
  namespace argand::unit {                               \
  const argand::detail::GemmKernels<float>& gemm_f32();  \
  const argand::detail::GemmKernels<double>& gemm_f64(); \
  }
ARGAND_DECLARE_GEMM_KERNELS(avx512)
ARGAND_DECLARE_GEMM_KERNELS(avx2)
ARGAND_DECLARE_GEMM_KERNELS(portable)
#undef ARGAND_DECLARE_GEMM_KERNELS
