// Cross entropy and its gradient in one pass over the logits, for a device that has it; blocks of kernels/blocks.h.
#pragma once
#include "argand/kernels/blocks.h"

namespace argand {

// As cpu::cross_entropy, without weights and smoothing, and the gradient of cpu::cross_entropy_backward for the one
// scale *grad_loss of the sum, or of the mean.  False, with nothing done, if the device has no such kernel for this
// call; otherwise the bits are those of the two.
using CrossEntropyAndGradient = bool(const cpu::CrossEntropy& call, bool mean, const void* grad_loss, void* losses,
                                     void* weights, void* log_sums, void* gradient);

// cpu::cross_entropy_backward for one scale, where `out` may hold the gradient for the scale *expected: if the bits of
// both are equal, nothing is left to do.
using CrossEntropyBackwardUnless = void(const cpu::CrossEntropy& call, const void* log_sums, const void* scale,
                                        const void* total_weight, const void* expected, void* out);

namespace blocks {
extern Block<CrossEntropyAndGradient> cross_entropy_and_gradient;
extern Block<CrossEntropyBackwardUnless> cross_entropy_backward_unless;
}  // namespace blocks

}  // namespace argand
