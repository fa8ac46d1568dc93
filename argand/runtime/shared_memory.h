// Memory and events of GPUs that several processes use (docs/design/0012-sharing-memory-of-a-gpu.md).  The CUDA backend
// registers how it is done.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "argand/core/device.h"

namespace argand {

// What one descriptor stands for.
struct SharedPiece {
  int descriptor = -1;
  size_t start = 0;  // of the piece among what the descriptor stands for
  size_t nbytes = 0;
};

struct SharedMemory {
  std::string device;  // the same in all processes, whatever index the device has there
  std::vector<SharedPiece> pieces;
  size_t offset = 0;  // of the first byte, in the first piece

  size_t mapped_bytes() const {
    size_t sum = 0;
    for (const SharedPiece& piece : pieces) sum += piece.nbytes;
    return sum;
  }
};

// All functions are safe from any thread.
class MemorySharing {
 public:
  virtual ~MemorySharing() = default;
  // Whether share() can succeed, as far as is known before it is called.
  virtual bool can_share(DeviceIndex device) = 0;
  // Descriptors of the memory that holds these bytes, for the caller to close.  DeviceError where it cannot be shared.
  virtual SharedMemory share(DeviceIndex device, const void* data, size_t nbytes) = 0;
  // The bytes in this process, and on which device; the descriptors stay the caller's.  DeviceError.
  virtual std::pair<DeviceIndex, void*> map(const SharedMemory& memory) = 0;
  // Gives back what map() gave; waits for the devices.  False, and nothing changed: not while a graph is captured.
  virtual bool unmap(DeviceIndex device, void* data) noexcept = 0;

  // Events (runtime/backend.h) that other processes open by the bytes of a handle; they have no timing.
  virtual void* make_event(DeviceIndex device) = 0;
  virtual std::string event_handle(void* event) = 0;
  virtual void* open_event(DeviceIndex device, const std::string& handle) = 0;
};

void register_memory_sharing(MemorySharing& sharing);
// Opens the CUDA backend if need be; DeviceError without one.
MemorySharing& memory_sharing();

}  // namespace argand
