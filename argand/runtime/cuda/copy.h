// Copies between host and devices.
#pragma once
#include "argand/core/device.h"

namespace argand::cuda {

// Backend::copy().
void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
          bool non_blocking);

}  // namespace argand::cuda
