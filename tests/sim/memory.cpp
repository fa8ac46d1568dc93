#include "tests/sim/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "argand/base/error.h"

namespace argand::sim {

Memory& Memory::get() {
  static Memory& memory = *new Memory;
  return memory;
}

Memory::Memory() {
  const int file = memfd_create("sim", MFD_CLOEXEC);
  ARGAND_CHECK(Error, file >= 0 && ftruncate(file, static_cast<off_t>(kBytes)) == 0, "sim: no memory file");
  const auto map = [&](int access) {
    void* const p = mmap(nullptr, kBytes, access, MAP_SHARED | MAP_NORESERVE, file, 0);
    ARGAND_CHECK(Error, p != MAP_FAILED, "sim: the memory cannot be mapped");
    return static_cast<char*>(p);
  };
  outside_ = map(PROT_NONE);
  inside_ = map(PROT_READ | PROT_WRITE);
  close(file);
}

static size_t rounded(size_t nbytes) { return std::bit_ceil(std::max<size_t>(nbytes, 64)); }

void* Memory::allocate(size_t nbytes) {
  if (nbytes > kBytes / 2) return nullptr;
  const size_t size = rounded(nbytes);
  const std::lock_guard lock(mutex_);
  std::vector<void*>& blocks = free_[size];
  if (!blocks.empty()) {
    void* const p = blocks.back();
    blocks.pop_back();
    return p;
  }
  if (kBytes - used_ < size) return nullptr;
  used_ += size;
  return outside_ + used_ - size;
}

void Memory::deallocate(void* data, size_t nbytes) noexcept {
  const std::lock_guard lock(mutex_);
  free_[rounded(nbytes)].push_back(data);
}

}  // namespace argand::sim
