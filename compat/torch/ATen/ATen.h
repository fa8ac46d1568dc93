// Tensors, their operators, dtypes, devices and errors.
#pragma once
#include "ATen/Dispatch.h"
#include "argand/core/accessor.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/grad_mode.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/tensor_index.h"
#include "argand/ops/operators.h"
#include "argand/ops/print/print.h"
#include "argand/runtime/cpu/thread_pool.h"
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

namespace at {
using CPUGeneratorImpl = argand::CpuGeneratorImpl;

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
