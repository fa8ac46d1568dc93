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

}  // namespace argand::optim
