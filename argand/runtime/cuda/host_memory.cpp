#include "argand/runtime/cuda/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

#include "argand/base/error.h"
#include "argand/runtime/cuda/sharing.h"
#include "argand/runtime/current_op.h"

namespace argand::cuda {
namespace {

// A memfd as large as the range; pages take memory when they are written.
int make_file(size_t nbytes) noexcept {
  if (!sharing_allowed()) return -1;
  const int file = memfd_create("argand pretended device", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(nbytes)) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

// The address ranges of each device, for all threads.
class Owners {
 public:
  void add(const void* base, size_t nbytes, int device) noexcept {
    const std::lock_guard lock(mutex_);
    ranges_[reinterpret_cast<uintptr_t>(base)] = {reinterpret_cast<uintptr_t>(base) + nbytes, device};
  }
  void remove(const void* base) noexcept {
    const std::lock_guard lock(mutex_);
    ranges_.erase(reinterpret_cast<uintptr_t>(base));
  }
  int of(uintptr_t address) noexcept {  // -1: no device's
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return -1;
    const Range& range = std::prev(next)->second;
    return address < range.end ? range.device : -1;
  }
  static Owners& all() {
    static Owners& owners = *new Owners;
    return owners;
  }

 private:
  struct Range {
    uintptr_t end;
    int device;
  };
  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;
};

}  // namespace

void HostMemory::check_reach(int device, const void* bytes, size_t nbytes) {
  for (size_t at = 0; at + sizeof(uintptr_t) <= nbytes; at += sizeof(uintptr_t)) {
    uintptr_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(bytes) + at, sizeof word);
    const int owner = Owners::all().of(word);
    ARGAND_CHECK(InternalError, owner < 0 || owner == device, current_op(), ": issued on cuda:", device,
                 " with memory of cuda:", owner);
  }
}

// mmap aligns to 4 KiB only, which is enough: nothing here asks for more.
void* HostMemory::reserve(size_t nbytes) noexcept {
  const int file = make_file(nbytes);
  const int flags = MAP_NORESERVE | (file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
  void* base = mmap(nullptr, nbytes, PROT_NONE, flags, file, 0);
  if (base == MAP_FAILED) {
    if (file >= 0) close(file);
    return nullptr;
  }
  ranges_[static_cast<const std::byte*>(base)] = {nbytes, file};
  Owners::all().add(base, nbytes, device_);
  return base;
}

void HostMemory::release(void* base, size_t nbytes) noexcept {
  Owners::all().remove(base);
  munmap(base, nbytes);
  const auto range = range_of(base);
  if (range->second.file >= 0) close(range->second.file);
  ranges_.erase(range);
}

std::map<const std::byte*, HostMemory::Range>::iterator HostMemory::range_of(const void* at) noexcept {
  const auto* byte = static_cast<const std::byte*>(at);
  const auto next = ranges_.upper_bound(byte);
  if (next == ranges_.begin()) return ranges_.end();
  const auto range = std::prev(next);
  return byte < range->first + range->second.nbytes ? range : ranges_.end();
}

bool HostMemory::map(void* at, size_t nbytes) noexcept {
  if (nbytes > free_bytes() || mprotect(at, nbytes, PROT_READ | PROT_WRITE) != 0) return false;
  mapped_ += nbytes;
  return true;
}

void HostMemory::unmap(void* at, size_t nbytes) noexcept {
  madvise(at, nbytes, range_of(at)->second.file >= 0 ? MADV_REMOVE : MADV_DONTNEED);
  mprotect(at, nbytes, PROT_NONE);
  mapped_ -= nbytes;
}

void HostMemory::fill(void* at, uint8_t value, size_t nbytes, StreamHandle) noexcept { std::memset(at, value, nbytes); }

bool HostMemory::read(void* host, const void* at, size_t nbytes) noexcept {
  std::memcpy(host, at, nbytes);
  return true;
}

bool HostMemory::can_share() noexcept { return sharing_allowed(); }

bool HostMemory::share(const void* at, size_t nbytes, SharedMemory& out) noexcept {
  const auto range = range_of(at);
  if (range == ranges_.end() || range->second.file < 0) return false;
  // As on a device, memory is shared in whole pieces, each with a descriptor.
  const auto from = static_cast<size_t>(static_cast<const std::byte*>(at) - range->first);
  const size_t piece = granularity(), first = from / piece * piece;
  out.offset = from - first;
  for (size_t start = first; start < from + nbytes; start += piece) {
    const int descriptor = fcntl(range->second.file, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return false;
    out.pieces.push_back({descriptor, start, std::min(piece, range->second.nbytes - start)});
  }
  return true;
}

void* HostMemory::map_shared(const SharedMemory& memory) noexcept {
  const size_t nbytes = memory.mapped_bytes();
  void* base = mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  std::byte* at = static_cast<std::byte*>(base);
  for (const SharedPiece& piece : memory.pieces) {
    if (mmap(at, piece.nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, piece.descriptor,
             static_cast<off_t>(piece.start)) == MAP_FAILED) {
      munmap(base, nbytes);
      return nullptr;
    }
    at += piece.nbytes;
  }
  Owners::all().add(base, nbytes, device_);
  return base;
}

void HostMemory::unmap_shared(void* base, const SharedMemory& memory) noexcept {
  Owners::all().remove(base);
  munmap(base, memory.mapped_bytes());
}

void* PlainPages::allocate(size_t nbytes) noexcept { return std::aligned_alloc(4096, nbytes); }
void PlainPages::free(void* data, size_t) noexcept { std::free(data); }

}  // namespace argand::cuda
