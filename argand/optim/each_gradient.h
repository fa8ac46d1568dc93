// What optimizers whose step is a few pointwise ops for each parameter have in common.  On a GPU, and for large tensors
// of the CPU, the issue window makes one kernel of those ops.
#pragma once
#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/optimizer.h"

namespace argand::optim {

// update(options of its group, parameter) for every parameter that has a gradient, without recording.
template <class Update>
void for_each_gradient(const std::vector<OptimizerParamGroup>& groups, Update update) {
  const NoGradGuard no_grad;
  for (const OptimizerParamGroup& group : groups)
    for (const Tensor& p : group.params())
      if (p.grad().defined()) update(group.options(), p);
}

// The gradient of p to descend, with the L2 penalty added.
inline Tensor descent(const Tensor& p, double weight_decay, bool maximize) {
  const Tensor g = maximize ? -p.grad() : p.grad();
  return weight_decay == 0 ? g : g + p * weight_decay;
}

// ValueError unless every number of the options is 0 or more, and momenta are below 1.
template <class Options>
void check_numbers(Options o) {
  o.each_number([](const char* name, double& value) {
    ARGAND_CHECK(ValueError, value >= 0, "Invalid ", name, " value: ", value);
  });
}
template <class Options>
void check_numbers_and_betas(const Options& o) {
  check_numbers(o);
  const auto [b1, b2] = o.betas();
  ARGAND_CHECK(ValueError, b1 < 1, "Invalid beta parameter at index 0: ", b1);
  ARGAND_CHECK(ValueError, b2 < 1, "Invalid beta parameter at index 1: ", b2);
}

}  // namespace argand::optim
