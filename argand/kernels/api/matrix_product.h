// The arguments of a matrix product of any element type: the call of blocks::matrix_product.
#pragma once
#include <cstdint>

#include "argand/core/scalar.h"

namespace argand {

// For each i < batch: C = alpha A B + beta C (+ bias to every row), all at i times their batch strides.  Strides count
// elements.  With beta 0, C is not read; with alpha 0 or k 0 the product is zero, and A and B are not read.
struct MatrixProduct {
  struct Operand {
    const void* data;
    int64_t row_stride, column_stride;  // any
    int64_t batch_stride = 0;           // any
  };

  ScalarType dtype;
  int64_t m, n, k;
  Operand a;  // [m, k]
  Operand b;  // [k, n]
  void* c;    // [m, n], dense rows; must not overlap A, B or the bias
  int64_t c_row_stride;
  int64_t batch = 1, c_batch_stride = 0;
  Scalar alpha = 1, beta = 0;
  const void* bias = nullptr;  // [n]
};

using RunMatrixProduct = void(const MatrixProduct& p);

}  // namespace argand
