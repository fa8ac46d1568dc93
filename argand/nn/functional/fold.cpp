#include "argand/nn/functional/fold.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace argand::nn::functional
