// Matrix products that are too small to fill a GPU: one kernel, where cuBLASLt would run a product, the sum of its
// parts and the sums of an operand one after the other.
#pragma once
#include "argand/kernels/api/matrix_product.h"

namespace argand::cuda {

// As blocks::matrix_product; a_sums [m], unless null, receives the sum of each row of A (batch is 1 then).  Returns
// false, and does nothing, if it does not support the product: this depends only on element type, sizes, strides and
// whether TF32 is allowed.  Sums have the type of ProductMath; float is never rounded to TF32 here.
bool small_product(const MatrixProduct& p, void* a_sums);

}  // namespace argand::cuda
