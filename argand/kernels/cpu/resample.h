// Resampling on the CPU (kernels/api/resample.h): one dimension after the other.
#pragma once
#include "argand/kernels/api/resample.h"

namespace argand::cpu {

RunResample resample;
RunResampleBackward resample_backward;

}  // namespace argand::cpu
