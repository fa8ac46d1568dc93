// Regions of interest on the CPU (kernels/api/roi.h).
#pragma once
#include "argand/kernels/api/roi.h"

namespace argand::cpu {

RunRoiAverage roi_average;
RunRoiAverageBackward roi_average_backward;
RunRoiMax roi_max;

}  // namespace argand::cpu
