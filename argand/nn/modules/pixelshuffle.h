// PixelShuffle, PixelUnshuffle and ChannelShuffle as modules.
#pragma once
#include "argand/nn/options/pixelshuffle.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

#define ARGAND_SHUFFLE(Name)                                                  \
  class Name##Impl : public Cloneable<Name##Impl> {                           \
   public:                                                                    \
    explicit Name##Impl(const Name##Options& options_) : options(options_) {} \
    void reset() override {}                                                  \
    void pretty_print(std::ostream& stream) const override;                   \
    Tensor forward(const Tensor& input);                                      \
    Name##Options options;                                                    \
  };                                                                          \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_SHUFFLE(PixelShuffle);    // [..., C r^2, H, W] as [..., C, H r, W r]
ARGAND_SHUFFLE(PixelUnshuffle);  // the inverse
ARGAND_SHUFFLE(ChannelShuffle);  // the channels of [N, C, ...], a matrix of `groups` rows, read by columns
#undef ARGAND_SHUFFLE

}  // namespace argand::nn
