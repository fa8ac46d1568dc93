// The allocators that storages of CUDA tensors, and of pinned CPU tensors, use.
#pragma once
#include "argand/core/allocator.h"
#include "argand/runtime/cuda/caching_allocator.h"
#include "argand/runtime/cuda/pinned_allocator.h"
#include "argand/runtime/memory_monitor.h"

namespace argand::cuda {

// Made at the first use of the device; lives as long as the process.  With ARGAND_CUDA_CACHING=0 device_allocator()
// does not use it: each block comes from the driver, so that compute-sanitizer knows its bounds and which of its bytes
// were written.  Freeing a block then waits for the device, and there are no statistics.
CachingAllocator& caching_allocator(int device);
Allocator& device_allocator(int device);
MemoryMonitor& memory_monitor(int device);
Allocator& pinned_allocator();
PinnedAllocator& pinned_blocks();
// Empties the caches of all devices used so far, and of host memory.
void empty_caches();

// Memory that several processes use, see MemorySharing.
bool can_share_memory(int device);
SharedMemory share_memory(int device, const void* data, size_t nbytes);
void* map_shared_memory(int device, const SharedMemory& memory);
bool unmap_shared_memory(int device, void* data) noexcept;

// Registers the functions of Note [Joined uses] for the layers above.
void register_stream_uses();

// The callback runs on the thread whose allocation finds no memory, and frees memory if it can.  See Note [Memory
// pressure].
void set_pressure_callback(void (*callback)());

// ARGAND_CUDA_GUARD=1: every block has guards (guard.h).  After waiting for a device: throws Error if one was damaged.
void check_guards(int device);

}  // namespace argand::cuda
