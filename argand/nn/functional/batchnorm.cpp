#include "argand/nn/functional/batchnorm.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& o) {
  ARGAND_CHECK(ShapeError, input.dim() >= 2,
               "batch_norm: expected an input of at least 2 dimensions, [N, C, ...], got ", input.sizes());
  if (o.training()) {
    int64_t values = input.size(0);
    for (int64_t d = 2; d < input.dim(); ++d) values *= input.size(d);
    ARGAND_CHECK(ValueError, values != 1,
                 "batch_norm: Expected more than 1 value per channel when training, got input size ", input.sizes());
  }
  return argand::batch_norm(input, o.weight(), o.bias(), running_mean, running_var, o.training(), o.momentum(), o.eps(),
                            true);
}

}  // namespace argand::nn::functional
