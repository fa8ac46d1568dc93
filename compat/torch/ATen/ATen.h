// Tensors, their operators, dtypes, devices and errors.
#pragma once
#include "ATen/Context.h"
#include "ATen/DeviceGuard.h"
#include "ATen/Dispatch.h"
#include "ATen/ExpandUtils.h"
#include "ATen/OpMathType.h"
#include "ATen/Parallel.h"
#include "ATen/ScalarOps.h"
#include "ATen/WrapDimUtils.h"
#include "ATen/core/DeprecatedTypeProperties.h"
#include "ATen/native/literal.h"
#include "argand/core/accessor.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/dimname.h"
#include "argand/core/grad_mode.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/tensor_index.h"
#include "argand/ops/operators.h"
#include "argand/ops/print/print.h"
#include "c10/core/DispatchKeySet.h"
#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"
#include "c10/util/Optional.h"
#include "c10/util/accumulate.h"
#include "c10/util/complex.h"
#include "c10/util/irange.h"
#include "c10/util/variant.h"

namespace c10 {

using argand::to_string;
using std::string_view;
using std::to_string;
using intrusive_ptr_target = RefCounted;
// Sizes are never symbolic.
using SymInt = int64_t;
using TypeError = DtypeError;
using SymIntArrayRef = IntArrayRef;
using DimVector = Dims;

template <class T, class... Arguments>
intrusive_ptr<T> make_intrusive(Arguments&&... arguments) {
  return intrusive_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace c10

namespace argand {
inline bool is_floating_point(const Tensor& t) { return t.is_floating_point(); }
inline bool is_complex(const Tensor& t) { return t.is_complex(); }
inline bool is_signed(const Tensor& t) { return t.is_signed(); }
// The first stft, which does not center, as the method of that kind.
template <class Flag, class = std::enable_if_t<std::is_same_v<Flag, bool> || std::is_same_v<Flag, std::nullopt_t> ||
                                               std::is_same_v<Flag, std::optional<bool>>>>
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const std::optional<Tensor>& window, bool normalized, Flag onesided,
            std::optional<bool> return_complex = {}, std::optional<bool> align_to_window = {}) {
  return self.stft(n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window);
}
// An address, as LibTorch before 2.10 streams t.grad_fn().
template <class T>
std::ostream& operator<<(std::ostream& out, const intrusive_ptr<T>& p) {
  return out << static_cast<const void*>(p.get());
}
}  // namespace argand

// The text by which LibTorch before 2.0 named what optimizers remember of a parameter: its address.
namespace c10::guts {
template <class T>
std::string to_string(T value) {
  return c10::str(value);
}
}  // namespace c10::guts

namespace at {
using CPUGeneratorImpl = argand::CpuGeneratorImpl;
using DimnameList = ArrayRef<Dimname>;
using IntList = IntArrayRef;
using TensorBase = Tensor;  // one class serves kernels and programs

// Kernels below the dispatcher are called as the ops are: there is nothing between them.
namespace native {
using namespace argand;
// Omits the overloads that take the factors one by one, because a nullopt would be ambiguous.
inline Tensor _upsample_nearest_exact2d(const Tensor& input, OptionalIntArrayRef output_size,
                                        std::optional<ArrayRef<double>> scale_factors) {
  return argand::_upsample_nearest_exact2d(input, output_size, scale_factors);
}
inline Tensor _upsample_bilinear2d_aa(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                      std::optional<ArrayRef<double>> scale_factors) {
  return argand::_upsample_bilinear2d_aa(input, output_size, align_corners, scale_factors);
}
inline Tensor _upsample_bicubic2d_aa(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                     std::optional<ArrayRef<double>> scale_factors) {
  return argand::_upsample_bicubic2d_aa(input, output_size, align_corners, scale_factors);
}
}  // namespace native

inline Tensor& linear_out(Tensor& out, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias = {}) {
  const NoGradGuard no_grad;
  const Tensor result = bias && bias->defined() ? linear(input, weight, *bias) : linear(input, weight);
  out.resize_(result.sizes());
  return out.copy_(result);
}

inline int64_t size(const Tensor& t, int64_t dim) { return t.size(dim); }
inline int64_t numel(const Tensor& t) { return t.numel(); }
inline Tensor _is_all_true(const Tensor& t) { return t.all(); }
inline Tensor _is_any_true(const Tensor& t) { return t.any(); }
// Conversions by the names of their C++ types.  harmless: on the CPU nobody waits for a copy, and values are the same
inline Tensor _cast_Byte(const Tensor& t, bool = false) { return t.to(kByte); }
inline Tensor _cast_Char(const Tensor& t, bool = false) { return t.to(kChar); }
inline Tensor _cast_Short(const Tensor& t, bool = false) { return t.to(kShort); }
inline Tensor _cast_Int(const Tensor& t, bool = false) { return t.to(kInt); }
inline Tensor _cast_Long(const Tensor& t, bool = false) { return t.to(kLong); }
inline Tensor _cast_Half(const Tensor& t, bool = false) { return t.to(kHalf); }
inline Tensor _cast_Float(const Tensor& t, bool = false) { return t.to(kFloat); }
inline Tensor _cast_Double(const Tensor& t, bool = false) { return t.to(kDouble); }
inline int64_t stride(const Tensor& t, int64_t dim) { return t.stride(dim); }
inline Tensor _unsafe_view(const Tensor& t, IntArrayRef size) { return t.view(size); }
// for_blob(data, sizes).strides(...).deleter(...).options(...).make_tensor(): from_blob, its arguments by name.
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef v) {
    if (v.has_value()) strides_ = v.value();
    return *this;
  }
  TensorMaker& storage_offset(std::optional<int64_t> v) { return offset_ = v.value_or(0), *this; }
  TensorMaker& deleter(std::function<void(void*)> v) { return deleter_ = std::move(v), *this; }
  TensorMaker& context(void* context, void (*deleter)(void*) = nullptr) {
    if (deleter) deleter_ = [=](void*) { deleter(context); };
    return *this;
  }
  TensorMaker& target_device(std::optional<Device> v) { return options_ = options_.device(v), *this; }
  TensorMaker& options(const TensorOptions& v) { return options_ = v, *this; }
  Tensor make_tensor() const {
    const Dims strides = strides_ ? *strides_ : contiguous_strides(sizes_);
    if (offset_ == 0) return from_blob(data_, sizes_, strides, deleter_, options_);
    int64_t count = offset_ + 1;  // elements that the tensor reaches
    for (size_t i = 0; i < sizes_.size(); ++i) count += (sizes_[i] - 1) * strides[i];
    if (numel_of(sizes_) == 0) count = offset_;
    return from_blob(data_, {count}, {1}, deleter_, options_).as_strided(sizes_, strides, offset_);
  }

 private:
  void* data_;
  Dims sizes_;
  std::optional<Dims> strides_;
  int64_t offset_ = 0;
  std::function<void(void*)> deleter_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

// A view whose strides the caller has computed.
inline Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return self.as_strided(size, stride, self.storage_offset());
}

template <class Impl, class... Arguments>
Generator make_generator(Arguments&&... arguments) {
  return Generator(c10::make_intrusive<Impl>(std::forward<Arguments>(arguments)...));
}
}  // namespace at

namespace caffe2 {
// The dtype of a C++ type.
struct TypeMeta {
  template <class T>
  static argand::ScalarType Make() {
    return argand::scalar_type_v<T>;
  }
};
}  // namespace caffe2
