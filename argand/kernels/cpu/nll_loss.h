// kernels/api/nll_loss.h on the CPU.
#pragma once
#include "argand/kernels/api/nll_loss.h"

namespace argand::cpu {

RunNllLoss nll_loss;
RunNllLossBackward nll_loss_backward;
RunTotalLoss total_loss;

}  // namespace argand::cpu
