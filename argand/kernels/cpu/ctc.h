// Connectionist temporal classification on the CPU (kernels/api/ctc.h): a thread processes whole sequences.
#pragma once
#include "argand/kernels/api/ctc.h"

namespace argand::cpu {

RunCtcLoss ctc_loss;
RunCtcLossBackward ctc_loss_backward;

}  // namespace argand::cpu
