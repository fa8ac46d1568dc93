// Connectionist temporal classification on the CPU (kernels/ctc.h): a thread processes whole sequences.
#pragma once
#include "argand/kernels/ctc.h"

namespace argand::cpu {

void ctc_loss(const CtcSequences& call, void* alpha, void* losses);
void ctc_loss_backward(const CtcSequences& call, const CtcGradient& gradient);

}  // namespace argand::cpu
