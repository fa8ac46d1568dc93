// Numbers as tensors.
#pragma once
#include "argand/ops/functions.h"
#include "c10/namespaces.h"

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
inline Tensor& scalar_fill(Tensor& self, const Scalar& value) { return self.fill_(value); }
namespace native {
// One that yields in type promotion, as a number does.
inline Tensor wrapped_scalar_tensor(const Scalar& s, Device device = kCPU) {
  Tensor t = c10::scalar_to_tensor(s, device);
  t.impl().wrapped_number = true;
  return t;
}
}  // namespace native
}  // namespace at
