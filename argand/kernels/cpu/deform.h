// Deformable convolution on the CPU (kernels/api/deform.h).
#pragma once
#include "argand/kernels/api/deform.h"

namespace argand::cpu {

RunDeformColumns deform_columns;
RunDeformInputGrad deform_input_grad;
RunDeformPlaceGrads deform_place_grads;

}  // namespace argand::cpu
