// An optimizer's step over many tensors at once, for devices on which a launch for each would cost more than its work.
// On the CPU the ops (ops/optim/fused_step.cpp) run the same formulas tensor by tensor.
#pragma once
#include "argand/core/dtype.h"

namespace argand {

// The formulas stand in kernels/cuda/fused_step.cuh.  Each number is rounded to the arithmetic type there.
struct FusedStep {
  enum Kind : int { kSgd, kAdam, kRmsprop };
  // Adam: amsgrad; SGD: momentum, nesterov; RMSprop: centered, momentum.
  static constexpr int kAmsgrad = 1, kMomentum = 2, kNesterov = 4, kCentered = 8;
  static constexpr int kMaxNumbers = 10, kMaxStates = 3;
  Kind kind;
  int options;
  // sgd: lr, weight_decay, sign of the gradient, momentum, keep, dampening, 1 in the first step
  // adam: beta1, 1 - beta1, beta2, 1 - beta2, step size, root of the second correction, eps, sign, l2, shrink
  // rmsprop: lr, alpha, 1 - alpha, eps, weight_decay, momentum, sign
  double numbers[kMaxNumbers];
};

// All of one dtype, `numel` elements each.
struct FusedTensor {
  void* param;
  const void* grad;
  void* states[FusedStep::kMaxStates];  // those that the kind and its options have, in the order of the op's arguments
  int64_t numel;
};

using RunFusedStep = void(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count);

}  // namespace argand
