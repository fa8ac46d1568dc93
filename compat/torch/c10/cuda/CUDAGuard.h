// Guards under the names of c10::cuda.
#pragma once
#include <optional>

#include "c10/cuda/CUDAStream.h"

namespace c10::cuda {

using CUDAGuard = argand::cuda::DeviceGuard;
using CUDAStreamGuard = StreamGuard;

// Does nothing without a device.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) guard_.emplace(*index);
  }
  void set_device(const Device& device) { guard_.emplace(device); }
  void set_index(DeviceIndex index) { guard_.emplace(index); }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAGuard> guard_;
};

}  // namespace c10::cuda
