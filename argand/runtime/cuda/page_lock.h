// Page-locked memory of the host.
#pragma once
#include <cstddef>

namespace argand::cuda {

// Locked for all devices, on the current device's NUMA node; null if there is no memory.  Free it by cudaFreeHost().
void* lock_pages(size_t nbytes) noexcept;

}  // namespace argand::cuda
