// Batch normalisation folded into the layer before it, for inference.
#pragma once
#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/modules/conv.h"

namespace argand::nn::utils {

// A new convolution, with a bias, that does what both modules do in evaluation; they stay as they are.  ValueError
// unless both are in evaluation mode and the statistics are tracked, ShapeError unless their channels agree.
Conv2d fuse_conv_bn_eval(const Conv2d& conv, const BatchNorm2d& bn);

}  // namespace argand::nn::utils
