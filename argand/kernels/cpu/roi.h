// Regions of interest on the CPU (kernels/roi.h).
#pragma once
#include "argand/kernels/roi.h"

namespace argand::cpu {

void roi_average(const RoiPooling& call, const void* images, void* out);
void roi_average_backward(const RoiPooling& call, const void* grad_out, void* grad_images);
void roi_max(const RoiPooling& call, const void* images, void* out, int32_t* at);

}  // namespace argand::cpu
