// A matrix product and sums of an operand in one pass, for a device that has such a kernel; a block of
// kernels/blocks.h.
#pragma once
#include "argand/kernels/api/matrix_product.h"

namespace argand {

// As blocks::matrix_product without a bias, and sums [m] = the sum of each row of A; not on the CPU.  Returns false,
// and does nothing, if the device has no such kernel for this call.
using ProductAndSums = bool(const MatrixProduct& call, void* sums);

}  // namespace argand
