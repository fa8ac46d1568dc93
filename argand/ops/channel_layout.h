// The position of the channels of [N, C, spatial...] in memory, before or behind the spatial dimensions, for ops whose
// kernels support both.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// Whether `t` has four or five dimensions with the channels last, with or without gaps.  False if it is contiguous as
// well, as a tensor of one channel can be.
bool has_channels_last(const Tensor& t);
// The same by the strides alone, including those of dimensions of size 1, so that an unsqueezed image without a batch
// does not count.  PyTorch's interpolation uses this rule.
bool strides_are_channels_last(const Tensor& t);
// `result`, or a copy of it whose channels are last, if those of `t` are.
Tensor laid_out_as(const Tensor& result, const Tensor& t);
// Empty (contiguous) unless `last`.
Dims channel_strides(IntArrayRef sizes, bool last);

// The layout in which a device computes an op.
class ChannelLayout {
 public:
  // For operands of `ndim` dimensions.  `last` (channels last) requires four or five.
  ChannelLayout(size_t ndim, bool last);

  // `t` or a copy, in this layout; undefined stays undefined.
  Tensor of(const Tensor& t) const;
  // `out`, or a tensor like it in this layout, to write to; call put(out, it) afterwards.
  Tensor to_write(const Tensor& out) const;
  static void put(const Tensor& out, const Tensor& written);

 private:
  bool fits(const Tensor& t) const;
  MemoryFormat format_ = MemoryFormat::Contiguous;
};

}  // namespace argand::ops
