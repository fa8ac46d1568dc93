#include "argand/nn/functional/fold.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  ARGAND_CHECK(ShapeError, input.dim() == 2 || input.dim() == 3,
               "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(), "D)");
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace argand::nn::functional
