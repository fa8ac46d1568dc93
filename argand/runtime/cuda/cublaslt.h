// Matrix products by cuBLASLt on the current stream of the current device.
//
// The kernel for a product depends on its element type, sizes, leading dimensions, the alignment of its addresses and
// on whether it has a bias or sums, and on nothing else: the same call gives the same bits.  float32 is computed in
// float32 unless TF32 is allowed (core/float32_precision.h).
//
// A relu that follows a product with a bias becomes its epilogue (Note [Epilogues]) if the kernel of the plain product
// can do it with the same bits as the op.  Some kernels turn NaN into 0 then, so each kernel is tested once with a bias
// of NaN, which waits for the stream.
#pragma once
#include <cstdint>

#include "argand/core/scalar.h"

namespace argand::cuda {

// Row-major, or (transposed) column-major: successive rows or columns lie `leading` elements apart, their own elements
// side by side.
struct LtMatrix {
  const void* data;
  bool transposed;
  int64_t leading;
  int64_t batch_stride = 0;
};

struct LtProduct {
  ScalarType dtype;  // floating point or complex
  int64_t m, n, k;   // none is 0
  LtMatrix a;        // [m, k]
  LtMatrix b;        // [k, n]
  void* c;           // [m, n] row-major
  int64_t c_leading;
  int batch = 1;
  int64_t c_batch_stride = 0;
  const void* bias = nullptr;  // [n], added to every row
  void* a_sums = nullptr;      // [m], instead of a bias: receives the sum of each row of A
};

// C = alpha A B + beta C (+ bias); false, and does nothing, if the library has no kernel for it.
bool cublaslt_product(const LtProduct& p, const Scalar& alpha, const Scalar& beta);

}  // namespace argand::cuda
