// gemm and gemm_batched through one function.
#pragma once
#include "argand/kernels/api/matrix_product.h"

namespace argand::cpu {

RunMatrixProduct matrix_product;

}  // namespace argand::cpu
