// Host pages in place of device memory and page-locked memory, for the dry run, so that the allocators and everything
// above them run as on a device.  Work counts as done when it is issued.
#pragma once
#include <map>

#include "argand/runtime/cuda/pinned_allocator.h"

namespace argand::cuda {

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(int device) : device_(device) {}

  // Throws InternalError if one of the addresses among these bytes is in the memory of another pretended device, which
  // work of `device` may not use.  Thread-safe.
  static void check_reach(int device, const void* bytes, size_t nbytes);

  size_t granularity() noexcept override { return size_t{2} << 20; }
  size_t total_bytes() noexcept override { return size_t{16} << 30; }  // addresses; pages cost memory when written
  size_t free_bytes() noexcept override { return total_bytes() - mapped_; }
  void* reserve(size_t nbytes) noexcept override;
  void release(void* base, size_t nbytes) noexcept override;
  bool map(void* at, size_t nbytes) noexcept override;
  void unmap(void* at, size_t nbytes) noexcept override;
  void synchronize() noexcept override {}
  void fill(void* at, uint8_t value, size_t nbytes, StreamHandle stream) noexcept override;
  bool read(void* host, const void* at, size_t nbytes) noexcept override;
  bool can_share() noexcept override;
  bool share(const void* at, size_t nbytes, SharedMemory& out) noexcept override;
  void* map_shared(const SharedMemory& memory) noexcept override;
  void unmap_shared(void* base, const SharedMemory& memory) noexcept override;

  void* record_event(StreamHandle) noexcept override { return this; }
  bool event_done(void*) noexcept override { return true; }
  void wait_event(void*) noexcept override {}
  void drop_event(void*) noexcept override {}

 private:
  struct Range {
    size_t nbytes;
    int file;  // a memfd; -1: not to be shared
  };
  // The range that holds an address of it.
  std::map<const std::byte*, Range>::iterator range_of(const void* at) noexcept;

  int device_;
  size_t mapped_ = 0;
  std::map<const std::byte*, Range> ranges_;
};

class PlainPages final : public PinnedSource {
 public:
  void* allocate(size_t nbytes) noexcept override;
  void free(void* data, size_t nbytes) noexcept override;
  void* record_event(StreamHandle) noexcept override { return this; }
  bool event_done(void*) noexcept override { return true; }
  void wait_event(void*) noexcept override {}
  void drop_event(void*) noexcept override {}
};

}  // namespace argand::cuda
