#include "argand/runtime/shared_memory.h"

#include <atomic>

#include "argand/base/error.h"
#include "argand/runtime/backend.h"

namespace argand {
namespace {
constinit std::atomic<MemorySharing*> registered{nullptr};
}

void register_memory_sharing(MemorySharing& sharing) { registered.store(&sharing); }

MemorySharing& memory_sharing() {
  backend_of(kCUDA);
  MemorySharing* sharing = registered.load();
  ARGAND_CHECK(DeviceError, sharing, "this CUDA backend does not share memory with other processes");
  return *sharing;
}

}  // namespace argand
