// An optimizer's step over many tensors: blocks::run_fused_step.
#pragma once
#include <array>
#include <utility>

#include "argand/core/dtype.h"
#include "argand/kernels/step_rules.h"

namespace argand {

struct StepCounts {
  int states, numbers;
};
constexpr StepCounts step_counts(StepKind kind) {
  constexpr auto counts = []<int... k>(std::integer_sequence<int, k...>) {
    return std::array{
        StepCounts{StepRule<static_cast<StepKind>(k)>::kStates, StepRule<static_cast<StepKind>(k)>::kNumbers}...};
  }
  (std::make_integer_sequence<int, kStepKinds>());
  return counts[static_cast<size_t>(kind)];
}

// Dense arrays of `numel` elements, all in one order.
struct StepTensor {
  void* param;
  const void* grad;
  void* states[kMostStepStates];  // as many as the rule uses
  int64_t numel;
};

// One rule with the same numbers over tensors of one dtype.
struct StepRun {
  StepKind kind;
  const double* numbers;
  ScalarType type;
  const StepTensor* tensors;
  int64_t count;
};

// On the CPU this allocates nothing and throws nothing.  On a GPU all kernels are compiled before the first is
// launched.
using RunFusedStep = void(const StepRun* runs, int64_t count);

}  // namespace argand
