#include "argand/runtime/cuda/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace argand::cuda {

// mmap aligns to 4 KiB only, which is enough: nothing here asks for more.
void* HostMemory::reserve(size_t nbytes) noexcept {
  void* base = mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

void HostMemory::release(void* base, size_t nbytes) noexcept { munmap(base, nbytes); }

bool HostMemory::map(void* at, size_t nbytes) noexcept {
  if (nbytes > free_bytes() || mprotect(at, nbytes, PROT_READ | PROT_WRITE) != 0) return false;
  mapped_ += nbytes;
  return true;
}

void HostMemory::unmap(void* at, size_t nbytes) noexcept {
  madvise(at, nbytes, MADV_DONTNEED);
  mprotect(at, nbytes, PROT_NONE);
  mapped_ -= nbytes;
}

void HostMemory::fill(void* at, uint8_t value, size_t nbytes, StreamHandle) noexcept { std::memset(at, value, nbytes); }

bool HostMemory::read(void* host, const void* at, size_t nbytes) noexcept {
  std::memcpy(host, at, nbytes);
  return true;
}

void* PlainPages::allocate(size_t nbytes) noexcept { return std::aligned_alloc(4096, nbytes); }
void PlainPages::free(void* data, size_t) noexcept { std::free(data); }

}  // namespace argand::cuda
