// A hook for profilers, called when storages allocate and free their bytes.
#pragma once
#include <atomic>
#include <cstdint>

#include "argand/core/device.h"

namespace argand {

// Called by the thread that allocates (bytes > 0) or frees (bytes < 0); must not throw.  Null: no hook.
using MemoryHook = void (*)(const Device& device, const void* address, int64_t bytes);
inline constinit std::atomic<MemoryHook> memory_hook{nullptr};

inline void note_memory(const Device& device, const void* address, size_t bytes, int64_t sign) {
  if (const MemoryHook hook = memory_hook.load(std::memory_order_relaxed)) [[unlikely]]
    hook(device, address, sign * static_cast<int64_t>(bytes));
}

}  // namespace argand
