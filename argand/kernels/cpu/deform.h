// Deformable convolution on the CPU (kernels/deform.h).
#pragma once
#include "argand/kernels/deform.h"

namespace argand::cpu {

void deform_columns(const DeformCall& call, const void* input, void* columns);
void deform_input_grad(const DeformCall& call, const void* grad_columns, void* grad_input);
void deform_place_grads(const DeformCall& call, const void* grad_columns, const void* input, void* grad_offset,
                        void* grad_mask);

}  // namespace argand::cpu
