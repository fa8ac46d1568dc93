#include "argand/runtime/cuda/sharing.h"

#include "argand/base/error.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/shared_memory.h"

namespace argand::cuda {
namespace {

void check_index(DeviceIndex index) {
  ARGAND_CHECK(DeviceError, index >= 0 && index < backend_of(kCUDA).device_count(),
               "there is no device cuda:", static_cast<int>(index), ": this machine has ",
               backend_of(kCUDA).device_count());
}

// The name of a device, the same in all processes.
std::string name_for_all(DeviceIndex index) {
  if (dry_run()) return "dry run";
  cudaDeviceProp p{};
  ARGAND_CUDA(cudaGetDeviceProperties(&p, index));
  std::string name = "GPU-";
  for (const char byte : p.uuid.bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    name += kDigits[static_cast<unsigned char>(byte) >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

class CudaSharing final : public MemorySharing {
 public:
  bool can_share(DeviceIndex index) override {
    check_index(index);
    return can_share_memory(index);
  }
  SharedMemory share(DeviceIndex index, const void* data, size_t nbytes) override {
    check_index(index);
    std::string name = name_for_all(index);
    SharedMemory memory = share_memory(index, data, nbytes);
    memory.device = std::move(name);
    return memory;
  }
  std::pair<DeviceIndex, void*> map(const SharedMemory& memory) override {
    const int count = backend_of(kCUDA).device_count();
    for (DeviceIndex index = 0; index < count; ++index)
      if (name_for_all(index) == memory.device) return {index, map_shared_memory(index, memory)};
    throw DeviceError(str("another process shared memory of the device ", memory.device,
                          ", which this process does not see; give both the same CUDA_VISIBLE_DEVICES"));
  }
  bool unmap(DeviceIndex index, void* data) noexcept override { return unmap_shared_memory(index, data); }

  void* make_event(DeviceIndex index) override {
    if (dry_run()) return backend_of(kCUDA).make_event(index, false);
    const DeviceScope on(Device(kCUDA, index));
    cudaEvent_t event = nullptr;
    ARGAND_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    return event;
  }
  std::string event_handle(void* event) override {
    cudaIpcEventHandle_t handle{};
    if (!dry_run()) ARGAND_CUDA(cudaIpcGetEventHandle(&handle, static_cast<cudaEvent_t>(event)));
    return {handle.reserved, sizeof handle.reserved};
  }
  void* open_event(DeviceIndex index, const std::string& bytes) override {
    cudaIpcEventHandle_t handle{};
    ARGAND_CHECK(ValueError, bytes.size() == sizeof handle.reserved, "Event.from_ipc_handle: expected a handle of ",
                 sizeof handle.reserved, " bytes, got ", bytes.size());
    bytes.copy(handle.reserved, bytes.size());
    if (dry_run()) return backend_of(kCUDA).make_event(index, false);
    const DeviceScope on(Device(kCUDA, index));
    cudaEvent_t event = nullptr;
    ARGAND_CUDA(cudaIpcOpenEventHandle(&event, handle));
    return event;
  }
};

}  // namespace

void register_sharing() {
  static CudaSharing& sharing = *new CudaSharing;
  register_memory_sharing(sharing);
}

}  // namespace argand::cuda
