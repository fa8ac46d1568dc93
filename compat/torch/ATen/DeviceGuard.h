// The device of a tensor, or of the first in a list, for an OptionalDeviceGuard.
#pragma once
#include "argand/core/tensor.h"
#include "c10/core/DeviceGuard.h"

namespace at {
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional(t.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& t) { return t ? device_of(*t) : std::nullopt; }
inline std::optional<Device> device_of(TensorList list) { return list.empty() ? std::nullopt : device_of(list[0]); }
}  // namespace at
