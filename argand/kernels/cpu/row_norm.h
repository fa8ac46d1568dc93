// kernels/api/row_norm.h on the CPU.
#pragma once
#include "argand/kernels/api/row_norm.h"

namespace argand::cpu {

RunRowNorm row_norm;
RunRowNormBackward row_norm_backward;

}  // namespace argand::cpu
