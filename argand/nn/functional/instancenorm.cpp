#include "argand/nn/functional/instancenorm.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  if (o.use_input_stats()) {
    int64_t elements = 1;
    for (int64_t d = 2; d < input.dim(); ++d) elements *= input.size(d);
    ARGAND_CHECK(ValueError, elements != 1,
                 "instance_norm: Expected more than 1 spatial element when training, got input size ", input.sizes());
  }
  return argand::instance_norm(input, o.weight(), o.bias(), o.running_mean(), o.running_var(), o.use_input_stats(),
                               o.momentum(), o.eps(), true);
}

}  // namespace argand::nn::functional
