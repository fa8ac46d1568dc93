#include "argand/data/transforms/tensor.h"

#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"

namespace argand::data::transforms::detail {

Tensor per_channel(ArrayRef<double> values) { return tensor(values, kFloat).unsqueeze(1).unsqueeze(2); }

Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev) { return input.sub(mean).div(stddev); }

}  // namespace argand::data::transforms::detail
