#include "argand/nn/functional/linear.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return argand::linear(input, weight, bias);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  ARGAND_CHECK(ShapeError, weight.dim() == 3, "bilinear: expected weight of 3 dimensions, got ", weight.sizes());
  ARGAND_CHECK(ShapeError, input1.dim() == input2.dim() && input1.dim() > 0,
               "bilinear(): input dimensions do not match: got ", input1.dim(), " and ", input2.dim());
  Dims sizes(input1.sizes());
  for (int64_t d = 0; d + 1 < input1.dim(); ++d)
    ARGAND_CHECK(ShapeError, input1.size(d) == input2.size(d),
                 "bilinear(): input batch dimensions do not match at dim ", d, ": got ", input1.size(d), " and ",
                 input2.size(d));
  ARGAND_CHECK(ShapeError, input1.size(-1) == weight.size(1) && input2.size(-1) == weight.size(2),
               "bilinear(): expected inputs of ", weight.size(1), " and ", weight.size(2), " features, got ",
               input1.size(-1), " and ", input2.size(-1));
  sizes.back() = weight.size(0);
  const Tensor x1 = input1.reshape({-1, weight.size(1)}), x2 = input2.reshape({-1, weight.size(2)});
  const Tensor out = einsum("bi,oij,bj->bo", {x1, weight, x2}).reshape(sizes);
  return bias.defined() ? out + bias : out;
}

}  // namespace argand::nn::functional
