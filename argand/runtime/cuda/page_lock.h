// Page-locked memory of the host.
#pragma once
#include <cstddef>

namespace argand::cuda {

// For all devices, on the NUMA node that the current one hangs on; null if there is none.  For cudaFreeHost().
void* lock_pages(size_t nbytes) noexcept;

}  // namespace argand::cuda
