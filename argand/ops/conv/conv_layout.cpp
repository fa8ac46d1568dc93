#include "argand/ops/conv/conv_layout.h"

namespace argand::ops {

Dims conv_strides(IntArrayRef sizes, const Tensor& a, const Tensor& b) {
  return channel_strides(sizes, has_channels_last(a) || has_channels_last(b));
}

ChannelLayout conv_layout(ConvShape& shape, const Tensor& a, const Tensor& b) {
  const size_t ndim = a.sizes().size();
  const bool given = has_channels_last(a) || has_channels_last(b);
  shape.channels_last =
      (ndim == 4 || ndim == 5) && blocks::conv_takes_channels_last.on(a.device())(shape, a.dtype(), given);
  return {ndim, shape.channels_last};
}

}  // namespace argand::ops
