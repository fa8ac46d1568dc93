// Copies between host and devices.
#pragma once
#include "argand/core/device.h"
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Backend::copy() and copy_all().
void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
          bool non_blocking);
void copy_all(const MemoryCopy* copies, size_t count, const Device& to_device, const Device& from_device);

}  // namespace argand::cuda
