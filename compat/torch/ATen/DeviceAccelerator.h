// The accelerator of this process, under the names that do not say which kind it is: CUDA, where there is a device.
#pragma once
#include <optional>

#include "argand/exec/cuda.h"
#include "c10/util/Exception.h"

namespace at::accelerator {
inline bool isAccelerator(DeviceType type) { return type == kCUDA; }
inline std::optional<DeviceType> getAccelerator(bool checked = false) {
  if (argand::cuda::is_available()) return kCUDA;
  TORCH_CHECK(!checked, "Cannot access accelerator device when none is available.")
  return std::nullopt;
}
inline DeviceIndex deviceCount() { return static_cast<DeviceIndex>(argand::cuda::device_count()); }
inline DeviceIndex getDeviceIndex() {
  getAccelerator(true);
  return static_cast<DeviceIndex>(argand::cuda::current_device());
}
inline void setDeviceIndex(DeviceIndex index) {
  getAccelerator(true);
  argand::cuda::set_device(index);
}
// The device that was current.
inline DeviceIndex exchangeDevice(DeviceIndex index) {
  const DeviceIndex before = getDeviceIndex();
  setDeviceIndex(index);
  return before;
}
// As exchangeDevice(); a negative index changes nothing.
inline DeviceIndex maybeExchangeDevice(DeviceIndex index) {
  return index < 0 ? getDeviceIndex() : exchangeDevice(index);
}
inline void synchronizeDevice(DeviceIndex index) {
  getAccelerator(true);
  argand::cuda::synchronize(index);
}
}  // namespace at::accelerator
