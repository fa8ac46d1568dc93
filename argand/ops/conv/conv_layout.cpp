#include "argand/ops/conv/conv_layout.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/conv_layout.h"

namespace argand::ops {
namespace {

constexpr uintptr_t kAlignment = 16;  // bytes; libraries have engines for every problem of such addresses

MemoryFormat channels_last(size_t ndim) {
  return ndim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

bool has_layouts(size_t ndim) { return ndim == 4 || ndim == 5; }

// And not contiguous too, as a tensor of one channel can be.
bool has_channels_last(const Tensor& t) {
  const size_t ndim = t.sizes().size();
  return has_layouts(ndim) && !t.is_contiguous() && t.is_contiguous(channels_last(ndim));
}

}  // namespace

Dims conv_strides(IntArrayRef sizes, const Tensor& a, const Tensor& b) {
  if (!has_channels_last(a) && !has_channels_last(b)) return {};
  return strides_of(sizes, channels_last(sizes.size()));
}

ConvLayout::ConvLayout(cpu::ConvShape& shape, const Tensor& a, const Tensor& b) {
  const size_t ndim = a.sizes().size();
  if (!has_layouts(ndim)) return;
  const bool given = has_channels_last(a) || has_channels_last(b);
  shape.channels_last = blocks::conv_takes_channels_last.on(a.device())(shape, a.dtype(), given);
  if (shape.channels_last) format_ = channels_last(ndim);
}

bool ConvLayout::fits(const Tensor& t) const {
  if (format_ == MemoryFormat::Contiguous) return t.is_contiguous();
  return t.is_contiguous(format_) && reinterpret_cast<uintptr_t>(t.impl().data()) % kAlignment == 0;
}

Tensor ConvLayout::of(const Tensor& t) const {
  if (!t.defined() || fits(t)) return t;
  if (format_ == MemoryFormat::Contiguous) return exec::dense_clone(t);
  t.impl().data();  // a copy that waits alone goes by tiles, one within a group does not
  const Tensor copy = exec::dense_clone(t, t.dtype(), strides_of(t.sizes(), format_));
  copy.impl().data();
  return copy;
}

Tensor ConvLayout::to_write(const Tensor& out) const {
  return fits(out) ? out : exec::new_tensor({out.sizes(), out.dtype(), strides_of(out.sizes(), format_)}, out.device());
}

void ConvLayout::put(const Tensor& out, const Tensor& written) {
  if (written.is_same(out)) return;
  exec::copy_elements(out, written);
  out.impl().data();  // as in of()
}

}  // namespace argand::ops
