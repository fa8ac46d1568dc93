#pragma once
#include "argand/kernels/api/fused_step.h"

namespace argand::cpu {

// Each element is read and written once; float16 and bfloat16 compute in float.
RunFusedStep fused_step;

}  // namespace argand::cpu
