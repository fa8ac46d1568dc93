// The allocators that storages of CUDA tensors, and of pinned CPU tensors, use.
#pragma once
#include "argand/core/allocator.h"
#include "argand/runtime/cuda/caching_allocator.h"

namespace argand::cuda {

// Made at the first use of the device; lives as long as the process.
CachingAllocator& caching_allocator(int device);
Allocator& device_allocator(int device);
Allocator& pinned_allocator();
// Of all devices used so far, and of host memory.
void empty_caches();

}  // namespace argand::cuda
