#include "argand/core/tensor.h"

#include "argand/core/dimname.h"

namespace argand {

void Tensor::throw_undefined() { throw ValueError("expected a tensor, got an undefined one"); }

const TensorImpl& Tensor::undefined_impl() {
  static const TensorImpl& impl = *new TensorImpl(nullptr, Dims{0}, Dims{1}, 0, ScalarType::Undefined);
  return impl;
}

int64_t Tensor::size(int64_t d) const {
  ARGAND_CHECK(IndexError, dim() > 0, "size: dimension specified as ", d, " but tensor has no dimensions");
  return sizes()[wrap_dim(d, dim(), "size")];
}

int64_t Tensor::stride(int64_t d) const {
  ARGAND_CHECK(IndexError, dim() > 0, "stride: dimension specified as ", d, " but tensor has no dimensions");
  return strides()[wrap_dim(d, dim(), "stride")];
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous) return described().contiguous;
  return defined() && argand::is_contiguous(sizes(), strides(), format);
}

bool Tensor::is_non_overlapping_and_dense() const {
  return !defined() || argand::is_non_overlapping_and_dense(sizes(), strides());
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (is_contiguous()) return MemoryFormat::Contiguous;
  if (is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
  if (is_contiguous(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

void* Tensor::data_ptr() const {
  ARGAND_CHECK(DeviceError, !is_meta(), "data_ptr: a meta tensor has no data");
  storage()->expose();
  return impl().data();
}

void Tensor::check_dtype(ScalarType wanted) const {
  ARGAND_CHECK(DtypeError, dtype() == wanted, "data_ptr: expected a tensor of ", wanted, ", got ", dtype());
}

Tensor Tensor::refine_names(ArrayRef<Dimname>) const {
  ARGAND_THROW(NotImplementedError, "refine_names: tensors have no names of dimensions here; use their numbers");
}

}  // namespace argand
