// kernels/api/cross_entropy.h on the CPU.
#pragma once
#include "argand/kernels/api/cross_entropy.h"

namespace argand::cpu {

RunCrossEntropy cross_entropy;
RunCrossEntropyBackward cross_entropy_backward;
RunCrossEntropySoftmaxFactors cross_entropy_softmax_factors;

// The first target that is neither in [0, classes) nor `ignore_index`: its position, or -1.
int64_t find_bad_target(const int64_t* targets, int64_t n, int64_t classes, int64_t ignore_index);

}  // namespace argand::cpu
