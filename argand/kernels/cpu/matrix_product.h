// gemm and gemm_batched through one function.
#pragma once
#include "argand/kernels/matrix_product.h"

namespace argand::cpu {

void matrix_product(const MatrixProduct& p);

}  // namespace argand::cpu
