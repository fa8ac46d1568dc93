// Element access by indices: `auto a = t.accessor<float, 2>(); a[i][j] = 1;`.  Unchecked; valid as long as the tensor
// lives and its sizes do not change.  For loops of one's own over small tensors on the CPU.
#pragma once
#include "argand/core/tensor.h"

namespace argand {

template <class T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  int64_t size(size_t dim) const { return sizes_[dim]; }
  int64_t stride(size_t dim) const { return strides_[dim]; }
  T* data() const { return data_; }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

// DtypeError or ShapeError if T or N is not the tensor's; DeviceError off the CPU.
template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const {
  static_assert(N > 0, "accessor is for tensors of at least one dimension; use item<T>() for 0-dim ones");
  ARGAND_CHECK(ShapeError, dim() == static_cast<int64_t>(N), "accessor: TensorAccessor expected ", N,
               " dims but tensor has ", dim());
  ARGAND_CHECK(DeviceError, is_cpu(), "accessor: expected a tensor on the CPU, got one on ", device());
  return {data_ptr<T>(), impl().sizes.data(), impl().strides.data()};
}

}  // namespace argand
