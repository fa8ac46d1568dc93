// What the allocators need from a device.  They include no CUDA headers, so a test can replace the device.
//
// Nothing here throws.  A device that is lost (a kernel failed, the context is gone) runs nothing any more: its events
// count as done, waiting returns at once, and the owner gets the error from its next call of the runtime.
#pragma once
#include <cstddef>
#include <cstdint>

#include "argand/runtime/shared_memory.h"

namespace argand::cuda {

using StreamHandle = void*;  // a cudaStream_t

// Marks in the work of streams.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;
  // An event after all work now on the stream, to be dropped by drop_event.  Null if the device is lost.
  virtual void* record_event(StreamHandle stream) noexcept = 0;
  virtual bool event_done(void* event) noexcept = 0;
  virtual void wait_event(void* event) noexcept = 0;  // the host waits
  virtual void drop_event(void* event) noexcept = 0;
};

// Addresses and memory, managed separately (cuMemAddressReserve, cuMemCreate, cuMemMap).
class DeviceMemory : public StreamEvents {
 public:
  virtual size_t granularity() noexcept = 0;  // sizes and addresses below are multiples of it
  virtual size_t total_bytes() noexcept = 0;  // of the device
  virtual size_t free_bytes() noexcept = 0;   // of the device; other processes count as users
  // Addresses without memory, aligned to granularity(); null if there are none.
  virtual void* reserve(size_t nbytes) noexcept = 0;
  // Releases the addresses; nothing may be mapped there.
  virtual void release(void* base, size_t nbytes) noexcept = 0;
  // Puts memory behind reserved addresses.  False: out of memory, nothing changed.
  virtual bool map(void* at, size_t nbytes) noexcept = 0;
  // Removes the memory of exactly one map(), as cuMemUnmap requires.  The device must no longer use it.
  virtual void unmap(void* at, size_t nbytes) noexcept = 0;
  virtual void synchronize() noexcept = 0;  // the host waits for all work of the device
  // For guard mode.  fill() is work of the stream.  read() waits for all work of the device; false if the device is
  // lost.
  virtual void fill(void* at, uint8_t value, size_t nbytes, StreamHandle stream) noexcept = 0;
  virtual bool read(void* host, const void* at, size_t nbytes) noexcept = 0;
  // For other processes.  share() returns descriptors of the map()s that hold these bytes, for the caller to close;
  // false: nothing is shared.  map_shared() maps such memory at new addresses, which unmap_shared() releases; null if
  // that fails.
  virtual bool can_share() noexcept { return false; }
  virtual bool share(const void* /*at*/, size_t /*nbytes*/, SharedMemory& /*out*/) noexcept { return false; }
  virtual void* map_shared(const SharedMemory& /*memory*/) noexcept { return nullptr; }
  virtual void unmap_shared(void* /*base*/, const SharedMemory& /*memory*/) noexcept {}
};

}  // namespace argand::cuda
