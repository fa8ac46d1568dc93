// Which kernels a convolution runs on.
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/conv.h"

namespace argand::cuda {
namespace {

const bool registered = [] {
  blocks::conv_forward.set(kCUDA, own::conv_forward);
  blocks::conv_input_grad.set(kCUDA, own::conv_input_grad);
  blocks::conv_weight_grad.set(kCUDA, own::conv_weight_grad);
  return true;
}();

}  // namespace
}  // namespace argand::cuda
