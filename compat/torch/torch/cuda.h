// Devices: whether there are any, how many, their random numbers.
#pragma once
#include "argand/exec/cuda.h"
#include "torch/types.h"

namespace argand::cuda {
inline bool cudnn_is_available() { return is_available() && cudnn_version() > 0; }
// The generator of the current device, and those of all; nothing without a device.
inline void manual_seed(uint64_t seed) {
  if (is_available()) backend_of(kCUDA).default_generator(current_device()).set_current_seed(seed);
}
inline void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < device_count(); ++i)
    backend_of(kCUDA).default_generator(static_cast<DeviceIndex>(i)).set_current_seed(seed);
}
}  // namespace argand::cuda
