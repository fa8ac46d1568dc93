// Memory and events of GPUs that several processes use (docs/design/0012-sharing-memory-of-a-gpu.md).  The CUDA backend
// registers the implementation.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "argand/core/device.h"

namespace argand {

// The memory of one descriptor.
struct SharedPiece {
  int descriptor = -1;
  size_t start = 0;  // of the piece in the descriptor's memory
  size_t nbytes = 0;
};

struct SharedMemory {
  std::string device;  // the same in all processes, for any index of the device
  std::vector<SharedPiece> pieces;
  size_t offset = 0;  // of the first byte, in the first piece

  size_t mapped_bytes() const {
    size_t sum = 0;
    for (const SharedPiece& piece : pieces) sum += piece.nbytes;
    return sum;
  }
};

// All functions are thread-safe.
class MemorySharing {
 public:
  virtual ~MemorySharing() = default;
  // Whether share() can succeed, as far as is known before it is called.
  virtual bool can_share(DeviceIndex device) = 0;
  // Descriptors of the memory that holds these bytes, for the caller to close.  DeviceError where it cannot be shared.
  virtual SharedMemory share(DeviceIndex device, const void* data, size_t nbytes) = 0;
  // Maps the bytes into this process and returns their device and address; the descriptors stay the caller's.  Throws
  // DeviceError.
  virtual std::pair<DeviceIndex, void*> map(const SharedMemory& memory) = 0;
  // Unmaps what map() returned; waits for the devices.  Returns false, and changes nothing, while a graph is captured.
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
