// Numbers as tensors.
#pragma once
#include <span>

#include "argand/ops/functions.h"
#include "c10/namespaces.h"

namespace argand::exec {
ScalarType result_type(std::span<const Tensor* const> operands);  // argand/exec/pointwise.h
}

namespace c10 {
// A tensor of no dimensions: float64, complex128, bool or int64.
inline Tensor scalar_to_tensor(const Scalar& s, Device device = kCPU) {
  const ScalarType dtype = s.isBoolean()         ? kBool
                           : s.isComplex()       ? kComplexDouble
                           : s.isFloatingPoint() ? kDouble
                                                 : kLong;
  return scalar_tensor(s, TensorOptions(dtype).device(device));
}
}  // namespace c10

namespace at {
// The dtype of an op's result, as torch.result_type.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  const Tensor* const operands[] = {&a, &b};
  return argand::exec::result_type(operands);
}
inline Tensor& scalar_fill(Tensor& self, const Scalar& value) { return self.fill_(value); }
namespace native {
// A wrapped number, which has lower priority in type promotion.
inline Tensor wrapped_scalar_tensor(const Scalar& s, Device device = kCPU) {
  Tensor t = c10::scalar_to_tensor(s, device);
  t.impl().wrapped_number = true;
  return t;
}
}  // namespace native
inline ScalarType result_type(const Tensor& a, const Scalar& b) {
  return result_type(a, native::wrapped_scalar_tensor(b));
}
inline ScalarType result_type(const Scalar& a, const Tensor& b) { return result_type(b, a); }
inline ScalarType result_type(const Scalar& a, const Scalar& b) {
  return result_type(native::wrapped_scalar_tensor(a), native::wrapped_scalar_tensor(b));
}
}  // namespace at
