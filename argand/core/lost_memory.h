// Note [Lost writes], for devices whose work fails after its call has returned: which memory it would have touched.
#pragma once
#include <atomic>
#include <exception>

#include "argand/core/device.h"

namespace argand {

// Why writes of some of these bytes may have been lost; null if they were not.  Asked at every look at device memory
// once a device has set it, and StorageImpl::side_streams.
using LostMemoryHook = std::exception_ptr (*)(const Device& device, const void* data, size_t nbytes);
inline constinit std::atomic<LostMemoryHook> lost_memory_hook{nullptr};

}  // namespace argand
