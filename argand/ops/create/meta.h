// The sizes, dtype and device of factory functions' results, from TensorOptions.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::ops {

inline void check_sizes(const char* op, IntArrayRef size) {
  for (const int64_t s : size)
    ARGAND_CHECK(ShapeError, s >= 0, op, ": Trying to create tensor with negative dimension ", s, ": ", size);
}

inline TensorMeta meta_of(const char* op, IntArrayRef size, const TensorOptions& o, ScalarType dtype) {
  check_sizes(op, size);
  TensorMeta meta{size, dtype};
  meta.device = o.device();
  if (o.memory_format_opt() && *o.memory_format_opt() != MemoryFormat::Preserve)
    meta.strides = strides_of(size, *o.memory_format_opt());
  return meta;
}
inline TensorMeta meta_of(const char* op, IntArrayRef size, const TensorOptions& o) {
  return meta_of(op, size, o, o.dtype());
}

// The result of *_like functions: the options of `self`, overridden by the given ones, in the memory order of `self`.
inline TensorMeta meta_like(const Tensor& self, const TensorOptions& o, std::optional<MemoryFormat> format) {
  TensorMeta meta{self.impl().sizes, o.dtype_opt().value_or(self.dtype())};
  meta.device = o.device_opt().value_or(self.device());
  const MemoryFormat f = format.value_or(o.memory_format_opt().value_or(MemoryFormat::Preserve));
  if (f != MemoryFormat::Preserve)
    meta.strides = strides_of(self.sizes(), f);
  else if (!self.is_contiguous() || self.dim() >= 4)  // strides of dimensions of size 1 say whether channels are last
    meta.strides = strides_like(self.sizes(), self.strides());
  return meta;
}

// The options of `self`, overridden by the given ones, for new_zeros and similar functions.
inline TensorOptions options_like(const Tensor& self, const TensorOptions& o) { return self.options().merge_in(o); }

}  // namespace argand::ops
