#include "argand/nn/modules/pixelshuffle.h"

#include "argand/ops/functions.h"

namespace argand::nn {

void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}
Tensor PixelShuffleImpl::forward(const Tensor& input) { return pixel_shuffle(input, options.upscale_factor()); }

void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) { return pixel_unshuffle(input, options.downscale_factor()); }

void ChannelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ChannelShuffle(groups=" << options.groups() << ")";
}
Tensor ChannelShuffleImpl::forward(const Tensor& input) { return channel_shuffle(input, options.groups()); }

}  // namespace argand::nn
