// Cross entropy in fewer passes or launches, for a device that has such kernels; blocks of kernels/blocks.h.
#pragma once
#include "argand/kernels/api/cross_entropy.h"

namespace argand {

// As cpu::cross_entropy, without weights and smoothing, and the gradient of cpu::cross_entropy_backward for the one
// scale *grad_loss of the sum, or of the mean.  Returns false, and does nothing, if the device has no such kernel for
// this call; otherwise the bits are those of the two.
using CrossEntropyAndGradient = bool(const CrossEntropyCall& call, bool mean, const void* grad_loss, void* losses,
                                     void* weights, void* log_sums, void* gradient);

// cpu::cross_entropy_backward for one scale.  `out` may already hold the gradient for the scale *expected: if both
// scales have equal bits, there is nothing to do.
using CrossEntropyBackwardUnless = void(const CrossEntropyCall& call, const void* log_sums, const void* scale,
                                        const void* total_weight, const void* expected, void* out);

// Few enough for one block of threads.
constexpr bool is_small_cross_entropy(int64_t rows, int64_t classes) {
  return rows > 0 && rows <= 1024 && classes > 0 && classes <= 32768 / rows;
}
// As cpu::cross_entropy and cpu::total_loss after it; not on the CPU.  log_sums [rows] and *total_weight have the
// arithmetic type.  Bad targets are reported as those of `op`.  If `gradient` is not null, there are no weights and no
// smoothing, and it receives the result of cpu::cross_entropy_backward for a scale of 1.
using SmallCrossEntropy = void(const char* op, const CrossEntropyCall& call, bool mean, void* loss,
                               ScalarType loss_type, void* log_sums, void* total_weight, void* gradient);

}  // namespace argand
