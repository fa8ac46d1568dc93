// kernels/api/pair_loss.h on the CPU.
#pragma once
#include "argand/kernels/api/pair_loss.h"

namespace argand::cpu {

RunPairLoss pair_loss;
RunPairLossDerivative pair_loss_derivative;
RunPairLossSum pair_loss_sum;

}  // namespace argand::cpu
