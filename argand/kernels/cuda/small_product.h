// Matrix products that end before a GPU is full: one kernel where cuBLASLt runs a product, the sum of its parts and the
// sums of an operand one after the other.
#pragma once
#include "argand/kernels/matrix_product.h"

namespace argand::cuda {

// As blocks::matrix_product, and a_sums [m], unless null, become A's rows, added up (batch is 1 then).  false, with
// nothing done: not for a product of this element type and these sizes and strides, which alone decide, with whether
// TF32 is allowed.  Sums are of the type that ProductMath has; float is not rounded to TF32 here even so.
bool small_product(const MatrixProduct& p, void* a_sums);

}  // namespace argand::cuda
