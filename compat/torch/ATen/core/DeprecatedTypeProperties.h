// The result of t.type(): dtype and device in one object, as in LibTorch before 1.5.
#pragma once
#include <ostream>

#include "argand/core/tensor.h"
#include "argand/ops/print/print.h"
#include "c10/namespaces.h"

namespace argand {

class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(Device device, ScalarType dtype) : device_(device), dtype_(dtype) {}
  ScalarType scalarType() const { return dtype_; }
  ScalarType typeMeta() const { return dtype_; }
  DeviceType device_type() const { return device_.type(); }
  Layout layout() const { return kStrided; }
  bool is_cuda() const { return device_.is_cuda(); }
  bool is_sparse() const { return false; }
  bool is_defined() const { return true; }
  TensorOptions options(int16_t index = -1) const {
    return TensorOptions(dtype_).device(Device(device_.type(), static_cast<DeviceIndex>(index)));
  }
  DeprecatedTypeProperties toScalarType(ScalarType t) const { return {device_, t}; }
  // "CPUFloatType"
  std::string toString() const { return type_name(device_.type(), dtype_); }
  // AT_DISPATCH_ALL_TYPES(t.type(), ...), zeros(sizes, t.type()), t.to(u.type())
  operator ScalarType() const { return dtype_; }
  operator TensorOptions() const { return TensorOptions(dtype_).device(Device(device_.type())); }
  friend bool operator==(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) {
    return a.device_.type() == b.device_.type() && a.dtype_ == b.dtype_;
  }
  friend std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& t) { return out << t.toString(); }

 private:
  Device device_;
  ScalarType dtype_;
};

inline DeprecatedTypeProperties Tensor::type() const { return {device(), dtype()}; }

}  // namespace argand
