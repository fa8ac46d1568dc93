#include "argand/nn/functional/normalize.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {

Tensor normalize(const Tensor& input, const NormalizeFuncOptions& o) {
  const Tensor length = input.norm(o.p(), {o.dim()}, true).clamp_min(o.eps());
  if (!o.out()) return input / length;
  Tensor out = *o.out();
  return div_out(out, input, length);
}

}  // namespace argand::nn::functional
