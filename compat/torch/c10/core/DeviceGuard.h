// Guards that make a device the current one for a scope; for the CPU they do nothing.
#pragma once
#include <optional>

#include "argand/exec/cuda.h"
#include "c10/core/DeviceType.h"

namespace c10 {

// Does nothing while it has no device.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) { reset_device(device); }
  explicit OptionalDeviceGuard(const std::optional<Device>& device) {
    if (device) reset_device(*device);
  }
  OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard& operator=(const OptionalDeviceGuard&) = delete;
  // Sets the device from now on, instead of any before.
  void reset_device(Device device) {
    if (!original_) original_ = device.is_cuda() ? Device(kCUDA, argand::cuda::current_device()) : device;
    current_ = device;
    scope_.reset();
    scope_.emplace(device);
  }
  void set_device(Device device) { reset_device(device); }
  std::optional<Device> original_device() const { return original_; }
  std::optional<Device> current_device() const { return current_; }

 private:
  std::optional<Device> original_, current_;
  std::optional<DeviceScope> scope_;
};

class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : guard_(device) {}
  void reset_device(Device device) { guard_.reset_device(device); }
  void set_index(DeviceIndex index) { guard_.reset_device(Device(current_device().type(), index)); }
  Device original_device() const { return *guard_.original_device(); }
  Device current_device() const { return *guard_.current_device(); }

 private:
  OptionalDeviceGuard guard_;
};

}  // namespace c10
