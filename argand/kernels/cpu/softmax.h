// kernels/api/softmax.h on the CPU.
#pragma once
#include "argand/kernels/api/softmax.h"

namespace argand::cpu {

RunSoftmax softmax;
RunSoftmaxBackward softmax_backward;

}  // namespace argand::cpu
