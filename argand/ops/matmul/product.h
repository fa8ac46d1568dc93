// Calls of the raw matrix product on tensors.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// out [m, n] (rows dense) = alpha * a [m, k] * b [k, n] + beta * out (+ bias [n]); all of one dtype.  a and b may have
// any strides.  With beta 0, out is not read.
void product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha = 1, const Scalar& beta = 0,
             const Tensor& bias = {});
// The same for every index of a leading batch dimension.
void batched_product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& alpha = 1,
                     const Scalar& beta = 0);
// out = a * b, and sums [m] = a summed over k.  If the device has no single kernel for both, returns false and does
// nothing.
bool product_and_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums);

// DtypeError naming both unless a and b have the same dtype.
void check_same_dtype(const char* op, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b);

}  // namespace argand::ops
