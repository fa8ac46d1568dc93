// Element access by indices: `auto a = t.accessor<float, 2>(); a[i][j] = 1;`.  Unchecked; valid as long as the tensor
// lives and its sizes do not change.  For loops over small CPU tensors in a program.
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

// How a packed accessor holds its address.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

#ifdef __CUDACC__
#define ARGAND_HOST_DEVICE __host__ __device__
#else
#define ARGAND_HOST_DEVICE
#endif

// An address with N sizes and strides, by value: an argument for a user's kernel, which uses it as `a[i][j]`.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  GenericPackedTensorAccessor(PtrType data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  // The elements under one index of a dimension.  It refers to the accessor and must not outlive it.
  template <size_t D>
  class Row {
   public:
    ARGAND_HOST_DEVICE Row(PtrType data, const Index* sizes, const Index* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    ARGAND_HOST_DEVICE decltype(auto) operator[](Index i) const {
      if constexpr (D == 1)
        return static_cast<T&>(data_[i * strides_[0]]);
      else
        return Row<D - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
    ARGAND_HOST_DEVICE Index size(size_t dim) const { return sizes_[dim]; }
    ARGAND_HOST_DEVICE Index stride(size_t dim) const { return strides_[dim]; }
    ARGAND_HOST_DEVICE PtrType data() const { return data_; }

   private:
    PtrType data_;
    const Index* sizes_;
    const Index* strides_;
  };
  ARGAND_HOST_DEVICE decltype(auto) operator[](Index i) const { return Row<N>(data_, sizes_, strides_)[i]; }
  ARGAND_HOST_DEVICE Index size(size_t dim) const { return sizes_[dim]; }
  ARGAND_HOST_DEVICE Index stride(size_t dim) const { return strides_[dim]; }
  ARGAND_HOST_DEVICE PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
#undef ARGAND_HOST_DEVICE

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;

// DtypeError or ShapeError if T or N is not the tensor's; DeviceError off the CPU.
template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const {
  static_assert(N > 0, "accessor is for tensors of at least one dimension; use item<T>() for 0-dim ones");
  ARGAND_CHECK(ShapeError, dim() == static_cast<int64_t>(N), "accessor: TensorAccessor expected ", N,
               " dims but tensor has ", dim());
  ARGAND_CHECK(DeviceError, is_cpu(), "accessor: expected a tensor on the CPU, got one on ", device());
  return {data_ptr<T>(), impl().sizes.data(), impl().strides.data()};
}

// DtypeError or ShapeError if T or N is not the tensor's; with 32 bits, ValueError if it has 2^31 elements or more.
template <class T, size_t N, template <class> class PtrTraits>
GenericPackedTensorAccessor<T, N, PtrTraits, int64_t> Tensor::packed_accessor64() const {
  static_assert(N > 0, "packed_accessor is for tensors of at least one dimension; use item<T>() for 0-dim ones");
  ARGAND_CHECK(ShapeError, dim() == static_cast<int64_t>(N), "packed_accessor: TensorAccessor expected ", N,
               " dims but tensor has ", dim());
  return {data_ptr<T>(), impl().sizes.data(), impl().strides.data()};
}
template <class T, size_t N, template <class> class PtrTraits, class Index>
GenericPackedTensorAccessor<T, N, PtrTraits, Index> Tensor::packed_accessor() const {
  const auto wide = packed_accessor64<T, N, PtrTraits>();
  return {wide.data(), impl().sizes.data(), impl().strides.data()};
}
template <class T, size_t N, template <class> class PtrTraits>
GenericPackedTensorAccessor<T, N, PtrTraits, int32_t> Tensor::packed_accessor32() const {
  const auto wide = packed_accessor64<T, N, PtrTraits>();
  ARGAND_CHECK(ValueError, numel() <= INT32_MAX,
               "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
  return {wide.data(), impl().sizes.data(), impl().strides.data()};
}

}  // namespace argand
