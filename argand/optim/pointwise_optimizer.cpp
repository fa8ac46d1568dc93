#include "argand/optim/pointwise_optimizer.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {

Tensor descent(const Tensor& p, double weight_decay, bool maximize) {
  const Tensor g = maximize ? -p.grad() : p.grad();
  return weight_decay == 0 ? g : g + p * weight_decay;
}

void begin_with_zeros(Tensor& t, const Tensor& p) {
  if (!t.defined()) t = zeros_like(p);
}

void check_numbers(OptimizerOptions& options) {
  options.each_number([](const char* name, double& value) {
    ARGAND_CHECK(ValueError, value >= 0, "Invalid ", name, " value: ", value);
  });
}

void check_betas(const std::tuple<double, double>& betas) {
  const auto [b1, b2] = betas;
  ARGAND_CHECK(ValueError, b1 < 1, "Invalid beta parameter at index 0: ", b1);
  ARGAND_CHECK(ValueError, b2 < 1, "Invalid beta parameter at index 1: ", b2);
}

}  // namespace argand::optim
