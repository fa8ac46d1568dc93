// Resampling on the CPU (kernels/resample.h): one dimension after the other.
#pragma once
#include "argand/kernels/resample.h"

namespace argand::cpu {

void resample(const Resampling& call, const void* in, void* out);
void resample_backward(const Resampling& call, const void* grad_out, void* grad_in);

}  // namespace argand::cpu
