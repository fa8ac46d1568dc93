// Where the channels of [N, C, spatial...] lie, before the spatial dimensions or behind them, for ops whose kernels
// know both.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// Four or five dimensions with the channels last, with gaps or without, and not contiguous too, as a tensor of one
// channel can be.
bool has_channels_last(const Tensor& t);
// The same by the strides alone, also those of dimensions of size 1: an image without a batch that was unsqueezed is
// none.  Interpolation of PyTorch's asks this.
bool strides_are_channels_last(const Tensor& t);
// `result`, or a copy of it whose channels are last, if those of `t` are.
Tensor laid_out_as(const Tensor& result, const Tensor& t);
// Empty, which means contiguous, unless `last`.
Dims channel_strides(IntArrayRef sizes, bool last);

// The one layout in which a device does an op.
class ChannelLayout {
 public:
  // For operands of `ndim` dimensions.  `last` (channels last) requires four or five.
  ChannelLayout(size_t ndim, bool last);

  // `t` or a copy, in this layout; undefined stays undefined.
  Tensor of(const Tensor& t) const;
  // `out` or a tensor like it, to write; then put(out, it).
  Tensor to_write(const Tensor& out) const;
  static void put(const Tensor& out, const Tensor& written);

 private:
  bool fits(const Tensor& t) const;
  MemoryFormat format_ = MemoryFormat::Contiguous;
};

}  // namespace argand::ops
