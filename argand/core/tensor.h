// The tensor: a counted handle to a layout over a storage.  Copying a Tensor copies the handle, never the elements.
//
// The methods that are operators (`add`, `view`, `sum`, ...) are generated from the op definitions: their declarations
// are included below, their definitions live in the layers above, as do those of autograd's methods. Thread safety: as
// a shared_ptr; different threads may read the same tensor, and writes need ordering by the caller.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "argand/core/generator.h"
#include "argand/core/tensor_impl.h"

namespace argand {

class DeprecatedTypeProperties;
class Dimname;
class DispatchKeySet;
template <class T>
class MaybeOwned;
class Tensor;
using TensorList = ArrayRef<Tensor>;
namespace autograd {
class Node;
}
class Stream;
namespace indexing {
class TensorIndex;
}

// `int[1]? dim`: nothing, one integer or a list.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}
  OptionalIntArrayRef(IntArrayRef r) : ref_(r) {}
  OptionalIntArrayRef(const std::vector<int64_t>& v) : ref_(v) {}
  OptionalIntArrayRef(const Dims& v) : ref_(v) {}
  OptionalIntArrayRef(const std::optional<Dims>& v) {
    if (v) ref_ = IntArrayRef(*v);
  }
  OptionalIntArrayRef(std::initializer_list<int64_t> l) : ref_(IntArrayRef(l)) {}
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  OptionalIntArrayRef(I one) : one_(one), is_one_(true) {}
  bool has_value() const { return is_one_ || ref_.has_value(); }
  IntArrayRef value() const { return is_one_ ? IntArrayRef(one_) : *ref_; }
  IntArrayRef operator*() const { return value(); }

 private:
  int64_t one_ = 0;
  bool is_one_ = false;
  std::optional<IntArrayRef> ref_;
};

template <class T, size_t N>
class TensorAccessor;
template <class T>
struct DefaultPtrTraits;
template <class T, size_t N, template <class> class PtrTraits, class Index>
class GenericPackedTensorAccessor;

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  // A tensor without a name is assigned its elements: x[0] = y, x[0][1] = 5.
  Tensor& operator=(const Tensor& values) &&;
  Tensor& operator=(Tensor&& values) && { return std::move(*this) = values; }  // NOLINT: `values` is copied from
  Tensor& operator=(const Scalar& value) &&;

  // ---- properties: these never wait for pending work.  An undefined tensor has one dimension of no elements, and no
  // dtype; what it does not have (strides, device, storage, data, autograd's data beyond requires_grad()) is a
  // ValueError.
  bool defined() const { return impl_ != nullptr; }
  void reset() { impl_ = nullptr; }  // becomes undefined
  int64_t dim() const { return static_cast<int64_t>(described().sizes.size()); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return described().sizes; }
  IntArrayRef strides() const { return impl().strides; }
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t numel() const { return described().numel(); }
  ScalarType scalar_type() const { return described().dtype; }
  ScalarType dtype() const { return described().dtype; }
  Device device() const { return impl().device(); }
  bool is_cpu() const { return defined() && device().is_cpu(); }
  bool is_cuda() const { return defined() && device().is_cuda(); }
  bool is_accelerator() const { return defined() && device().is_accelerator(); }
  bool is_meta() const { return defined() && device().is_meta(); }
  DeviceIndex get_device() const { return device().index(); }
  int64_t itemsize() const { return argand::element_size(impl().dtype); }
  int64_t element_size() const { return itemsize(); }
  size_t nbytes() const { return static_cast<size_t>(numel() * itemsize()); }
  int64_t storage_offset() const { return described().offset; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;
  MemoryFormat suggest_memory_format() const;
  bool is_floating_point() const { return argand::is_floating_point(dtype()); }
  bool is_complex() const { return argand::is_complex(dtype()); }
  bool is_signed() const { return argand::is_signed(impl().dtype); }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()).layout(kStrided); }
  Layout layout() const { return kStrided; }
  bool is_sparse() const { return false; }
  bool is_sparse_csr() const { return false; }
  bool is_quantized() const { return false; }
  bool is_mkldnn() const { return false; }
  bool is_nested() const { return false; }
  bool is_mps() const { return false; }
  bool is_xpu() const { return false; }
  bool is_hip() const { return false; }
  bool is_xla() const { return false; }
  bool is_vulkan() const { return false; }
  bool is_privateuseone() const { return defined() && device().is_privateuseone(); }
  bool has_storage() const { return defined(); }
  // For LibTorch's programs: sizes are never symbolic; the keys that its dispatcher would have for the tensor; dtype
  // and device as one (ATen/core/DeprecatedTypeProperties.h); contiguous() (c10/util/MaybeOwned.h).
  IntArrayRef sym_sizes() const { return sizes(); }
  IntArrayRef sym_strides() const { return strides(); }
  int64_t sym_size(int64_t dim) const { return size(dim); }
  int64_t sym_stride(int64_t dim) const { return stride(dim); }
  int64_t sym_numel() const { return numel(); }
  int64_t sym_storage_offset() const { return storage_offset(); }
  DispatchKeySet key_set() const;
  DeprecatedTypeProperties type() const;
  MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  std::string toString() const;  // "CPUFloatType"
  void print() const;            // "[CPUFloatType [2, 3]]" as a line of standard error
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }
  bool is_alias_of(const Tensor& o) const { return impl().storage == o.impl().storage; }
  uint32_t use_count() const { return impl_.use_count(); }
  bool is_uniquely_owned() const { return use_count() == 1; }
  const StoragePtr& storage() const { return impl().storage; }
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  const intrusive_ptr<TensorImpl>& handle() const { return impl_; }
  const intrusive_ptr<TensorImpl>& getIntrusivePtr() const { return impl_; }

  // ---- its elements: every pending write is done first
  // The address of element 0.  Handing it out exposes the storage: later ops on it are issued at once.
  void* data_ptr() const;
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    check_dtype(scalar_type_v<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  // The only element; ValueError when there is not exactly one.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  // Element access on the CPU by N indices; include "argand/core/accessor.h".
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const;
  // The same as an independent value that kernels take by value, with indices of 64 or 32 bits; on any device.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, PtrTraits, int64_t> packed_accessor64() const;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, PtrTraits, int32_t> packed_accessor32() const;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const;

  // ---- autograd (defined in autograd/)
  bool requires_grad() const;
  const Tensor& set_requires_grad(bool value) const;
  const Tensor& requires_grad_(bool value = true) const { return set_requires_grad(value); }
  bool is_leaf() const;
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  intrusive_ptr<autograd::Node> grad_fn() const;
  uint32_t output_nr() const;
  uint32_t _version() const { return defined() ? impl().storage->version() : 0; }
  bool is_view() const;
  Tensor _base() const;
  // NotImplementedError: tensors have no names of dimensions (argand/core/dimname.h).
  Tensor refine_names(ArrayRef<Dimname> names) const;
  bool is_inference() const { return described().inference; }
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                std::optional<TensorList> inputs = std::nullopt) const;
  void retain_grad() const;
  bool retains_grad() const;
  // The hook sees the gradient of this tensor and may return another in its place; returns a handle for remove_hook.
  unsigned register_hook(std::function<Tensor(Tensor)> hook) const;
  template <class F, std::enable_if_t<std::is_void_v<std::invoke_result_t<F&, Tensor>>, int> = 0>
  unsigned register_hook(F hook) const {
    return register_hook([hook = std::move(hook)](Tensor gradient) mutable {
      hook(std::move(gradient));
      return Tensor();
    });
  }
  void remove_hook(unsigned handle) const;
  Tensor& detach_();
  Tensor data() const;                   // detached alias that shares the version counter
  void set_data(const Tensor& t) const;  // takes over storage and layout of `t`
  Tensor variable_data() const { return data(); }
  Tensor tensor_data() const { return data(); }
  // Gives this tensor another shape over its storage, which grows if needed; new elements are not set.  ValueError if
  // it requires grad, or has to grow borrowed memory.
  const Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> memory_format = std::nullopt) const;
  const Tensor& resize_as_(const Tensor& other, std::optional<MemoryFormat> memory_format = std::nullopt) const;
  // Makes this a tensor over the memory of another one, or of a storage (row by row without strides), or one of no
  // elements.  DtypeError for another dtype, GradError if it requires grad.
  const Tensor& set_(const Tensor& source) const;
  const Tensor& set_(const StoragePtr& source) const;
  const Tensor& set_(const StoragePtr& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride = {}) const;
  const Tensor& set_() const;
  bool is_set_to(const Tensor& other) const;  // the same elements of the same storage
  // Gives this tensor another layout over its storage, as as_strided().  GradError if it requires grad.
  const Tensor& as_strided_(IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset = std::nullopt) const;

  // ---- operators
  Tensor operator-() const;
  Tensor operator~() const;
  Tensor operator!() const;
  Tensor& operator+=(const Tensor& o);
  Tensor& operator+=(const Scalar& o);
  Tensor& operator-=(const Tensor& o);
  Tensor& operator-=(const Scalar& o);
  Tensor& operator*=(const Tensor& o);
  Tensor& operator*=(const Scalar& o);
  Tensor& operator/=(const Tensor& o);
  Tensor& operator/=(const Scalar& o);
  Tensor& operator%=(const Tensor& o);
  Tensor& operator%=(const Scalar& o);
  Tensor& operator&=(const Tensor& o);
  Tensor& operator&=(const Scalar& o);
  Tensor& operator|=(const Tensor& o);
  Tensor& operator|=(const Scalar& o);
  Tensor& operator^=(const Tensor& o);
  Tensor& operator^=(const Scalar& o);
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value);
  Tensor toType(ScalarType t) const;
  Tensor cpu() const;
  Tensor cuda(std::optional<DeviceIndex> device = {}, bool non_blocking = false) const;
  // The same values in page-locked CPU memory, from which devices copy without waiting (`to(device, non_blocking)`).
  Tensor pin_memory() const;
  bool is_pinned() const;
  // Says that work of the stream uses the memory.  Never needed: the allocator notices by itself.
  void record_stream(const Stream& stream) const;

#include "argand/core/tensor_methods.inc"
  // An integer is a dimension, not the flag `unbiased`.
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  Tensor var(I dim) const {
    return var(OptionalIntArrayRef(dim));
  }
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  Tensor std(I dim) const {
    return std(OptionalIntArrayRef(dim));
  }
  // LibTorch's older stft, which does not center.  It is chosen if a flag, not a text, follows `normalized`.
  template <class Flag, class = std::enable_if_t<std::is_same_v<Flag, bool> || std::is_same_v<Flag, std::nullopt_t> ||
                                                 std::is_same_v<Flag, std::optional<bool>>>>
  Tensor stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
              const std::optional<Tensor>& window, bool normalized, Flag onesided,
              std::optional<bool> return_complex = {}, std::optional<bool> align_to_window = {}) const {
    return stft(n_fft, hop_length, win_length, window, false, "reflect", normalized, onesided, return_complex,
                align_to_window);
  }
  // A braced list is a shape, even an empty one, which could also mean a dtype.
  Tensor view(std::initializer_list<int64_t> size) const { return view(IntArrayRef(size)); }

  TensorImpl& impl() const {
    if (!impl_) [[unlikely]]
      throw_undefined();
    return *impl_;
  }

 private:
  [[noreturn]] static void throw_undefined();
  static const TensorImpl& undefined_impl();
  const TensorImpl& described() const { return impl_ ? *impl_ : undefined_impl(); }
  void check_dtype(ScalarType wanted) const;
  intrusive_ptr<TensorImpl> impl_;
};

// "tensor([[1., 2.], [3., 4.]])", as Python prints it; defined in ops/print, which also has operator<<.
std::string to_string(const Tensor& t);
inline void append(std::string& out, const Tensor& t) { out += to_string(t); }

}  // namespace argand
