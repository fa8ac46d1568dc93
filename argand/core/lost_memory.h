// Note [Lost writes], for devices whose work can fail after its call has returned: which memory is affected.
#pragma once
#include <atomic>
#include <exception>

#include "argand/core/device.h"

namespace argand {

// Returns why writes of some of these bytes may have been lost, or null.  Once a device has set it together with
// StorageImpl::side_streams, every access to device memory calls it.
using LostMemoryHook = std::exception_ptr (*)(const Device& device, const void* data, size_t nbytes);
inline constinit std::atomic<LostMemoryHook> lost_memory_hook{nullptr};

}  // namespace argand
