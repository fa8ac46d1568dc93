// The arguments of the transposing copy, which the host fills in: read by both.
#pragma once
#include "argand/kernels/cuda/index.cuh"
#if defined(__CUDACC_RTC__)
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

// A batch of matrices: element (r, c) lies at in[r * in_stride + c] and goes to out[c * out_stride + r].  Strides are
// in elements; all sizes are below 2^31.
struct TransposeShape {
  static constexpr int kMaxDims = 8;
  const void* in;
  void* out;
  int64_t rows, columns, in_stride, out_stride;
  FastDiv row_tiles, column_tiles;
  struct Dim {
    FastDiv by_size;
    int64_t in_stride, out_stride;
  };
  Dim batch[kMaxDims];  // outermost first
  int batch_dims;
};

}  // namespace argand
