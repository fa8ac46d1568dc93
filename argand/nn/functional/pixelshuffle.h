// Channels as pixels and back.
#pragma once
#include "argand/nn/options/pixelshuffle.h"
#include "argand/ops/functions.h"

namespace argand::nn::functional {

// [..., C r^2, H, W] as [..., C, H r, W r].
inline Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
  return argand::pixel_shuffle(input, options.upscale_factor());
}
// [..., C, H r, W r] as [..., C r^2, H, W].
inline Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
  return argand::pixel_unshuffle(input, options.downscale_factor());
}

}  // namespace argand::nn::functional
