// Tensors, their operators, dtypes, devices and errors.
#pragma once
#include "ATen/Dispatch.h"
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
#include "argand/runtime/cpu/thread_pool.h"
#include "c10/core/DispatchKeySet.h"
#include "c10/util/Exception.h"
#include "c10/util/Optional.h"
#include "c10/util/complex.h"
#include "c10/util/irange.h"
#include "c10/util/variant.h"

namespace c10 {

using argand::to_string;
using std::to_string;

// A dtype is a ScalarType here; LibTorch's TypeMeta is another type for the same.
inline ScalarType typeMetaToScalarType(ScalarType t) { return t; }
inline ScalarType scalarTypeToTypeMeta(ScalarType t) { return t; }
inline const char* toString(ScalarType t) { return dtype_cpp_name(t); }

template <class T, class... Arguments>
intrusive_ptr<T> make_intrusive(Arguments&&... arguments) {
  return intrusive_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace c10

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

// Kernels below the dispatcher are called as the ops are: there is nothing between them.
namespace native {
using namespace argand;
// Without the overloads that take the factors one by one, which a nullopt could mean as well.
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

// A view whose strides the caller has computed.
inline Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return self.as_strided(size, stride, self.storage_offset());
}

// An op of LibTorch's own tests: with and without its defaults, two functions of one name.
inline Tensor _test_ambiguous_defaults(const Tensor& dummy, int64_t a = 1, int64_t b = 1) {
  return dummy + (a + b - 1);
}
inline Tensor _test_ambiguous_defaults(const Tensor& dummy, int64_t a, std::string_view) { return dummy + a; }

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
