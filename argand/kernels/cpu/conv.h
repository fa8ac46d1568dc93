// kernels/api/conv.h on the CPU.
#pragma once
#include "argand/kernels/api/conv.h"

namespace argand::cpu {

ConvTakesChannelsLast conv_takes_channels_last;
RunConvForward conv_forward;
RunConvInputGrad conv_input_grad;
RunConvWeightGrad conv_weight_grad;

}  // namespace argand::cpu
