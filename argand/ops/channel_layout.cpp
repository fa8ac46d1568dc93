#include "argand/ops/channel_layout.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {
namespace {

constexpr uintptr_t kAlignment = 16;  // bytes; libraries have engines for every problem of such addresses

MemoryFormat channels_last(size_t ndim) {
  return ndim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

// Whether the dimensions lie in the order C, W, H, (D,) N, each behind all of those before it.  PyTorch's rule.
bool strides_say_channels_last(IntArrayRef sizes, IntArrayRef strides) {
  const size_t ndim = sizes.size();
  if (strides[1] == 0) return false;
  int64_t least = 0;
  const auto follows = [&](size_t d) {
    if (sizes[d] == 0 || strides[d] < least) return false;
    if (d == 0 && least == strides[1]) return false;  // sizes such as [N, 1, 1, 1] are ambiguous
    least = strides[d] * (sizes[d] > 1 ? sizes[d] : 1);
    return true;
  };
  if (!follows(1)) return false;
  for (size_t d = ndim - 1; d >= 2; --d)
    if (!follows(d)) return false;
  return follows(0);
}

}  // namespace

bool has_channels_last(const Tensor& t) {
  const size_t ndim = t.sizes().size();
  if (ndim != 4 && ndim != 5) return false;
  return strides_say_channels_last(t.sizes(), t.strides()) ||
         (!t.is_contiguous() && t.is_contiguous(channels_last(ndim)));
}

bool strides_are_channels_last(const Tensor& t) {
  const size_t ndim = t.sizes().size();
  return (ndim == 4 || ndim == 5) && !t.is_contiguous() && strides_say_channels_last(t.sizes(), t.strides());
}

Tensor laid_out_as(const Tensor& result, const Tensor& t) {
  if (!has_channels_last(t) || result.dim() != t.dim()) return result;
  return result.contiguous(channels_last(result.sizes().size()));
}

Dims channel_strides(IntArrayRef sizes, bool last) {
  return last ? strides_of(sizes, channels_last(sizes.size())) : Dims{};
}

ChannelLayout::ChannelLayout(size_t ndim, bool last) {
  if (last) format_ = channels_last(ndim);
}

bool ChannelLayout::fits(const Tensor& t) const {
  if (format_ == MemoryFormat::Contiguous) return t.is_contiguous();
  return t.is_contiguous(format_) && reinterpret_cast<uintptr_t>(t.impl().data()) % kAlignment == 0;
}

Tensor ChannelLayout::of(const Tensor& t) const {
  if (!t.defined() || fits(t)) return t;
  t.impl().data();  // what made it may be an epilogue alone, and the copy goes by tiles alone
  const Tensor copy = format_ == MemoryFormat::Contiguous
                          ? exec::dense_clone(t)
                          : exec::dense_clone(t, t.dtype(), strides_of(t.sizes(), format_));
  copy.impl().data();
  return copy;
}

Tensor ChannelLayout::to_write(const Tensor& out) const {
  return fits(out) ? out : exec::new_tensor({out.sizes(), out.dtype(), strides_of(out.sizes(), format_)}, out.device());
}

void ChannelLayout::put(const Tensor& out, const Tensor& written) {
  if (written.is_same(out)) return;
  exec::copy_elements(out, written);
  out.impl().data();  // as in of()
}

}  // namespace argand::ops
