#include "argand/ops/index/slots.h"

#include "argand/ops/index/bounds.h"

namespace argand::ops {

// Adjacent dimensions that are contiguous in `t` are merged.
AlongDim along(const Tensor& index, const Tensor& t, int64_t dim) {
  const Dims strides = strides_without(index, t, dim);
  AlongDim s{index.numel(), stride_at(t, dim), 0, {}, {}};
  for (size_t d = 0; d < strides.size(); ++d) {
    const int64_t size = index.sizes()[d];
    if (size == 1) continue;
    const int last = s.ndim - 1;
    if (last >= 0 && s.strides[last] == size * strides[d]) {
      s.sizes[last] *= size;
      s.strides[last] = strides[d];
      continue;
    }
    if (s.ndim == AlongDim::kMaxDims) throw NotOnDevice("more than 16 dimensions that cannot be merged");
    s.sizes[s.ndim] = size;
    s.strides[s.ndim++] = strides[d];
  }
  if (s.ndim == 0) s.sizes[s.ndim++] = 1;
  return s;
}

Tensor slots_in(const Tensor& t, const Tensor& index, int64_t dim) {
  // If `dim` has all the elements, and neighbours there are neighbours in memory, then the index is the position.
  if (index.numel() == size_at(index, dim) && stride_at(t, dim) == 1) return index;
  const Tensor slots = exec::new_tensor({{index.numel()}, kLong}, t.device());
  blocks::slots_along.on(t.device())(along(index, t, dim), numbers_in(index),
                                     static_cast<int64_t*>(slots.impl().data()));
  return slots;
}

}  // namespace argand::ops
