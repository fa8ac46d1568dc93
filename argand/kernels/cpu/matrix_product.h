// gemm and gemm_batched behind one signature.
#pragma once
#include "argand/kernels/matrix_product.h"

namespace argand::cpu {

void matrix_product(const MatrixProduct& p);

}  // namespace argand::cpu
