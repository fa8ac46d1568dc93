#include "argand/runtime/backend.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>

#include "argand/base/error.h"
#include "argand/runtime/cpu/aligned_allocator.h"
#include "argand/runtime/cpu/memory_limits.h"
#include "argand/runtime/process_end.h"

namespace argand {
namespace {

class CpuAllocator final : public Allocator {
 public:
  CpuAllocator() { asks_beyond_ = kAlwaysTried; }
  void ask(size_t nbytes) override { ask_for_memory(nbytes); }
  void* allocate(size_t nbytes) override { return allocate_aligned(nbytes); }
  void deallocate(void* data, size_t nbytes) noexcept override { deallocate_aligned(data, nbytes); }
  Device device() const override { return kCPU; }
};

// A meta tensor has sizes and a dtype but never bytes.
class MetaAllocator final : public Allocator {
 public:
  void* allocate(size_t) override { return nullptr; }
  void deallocate(void*, size_t) noexcept override {}
  Device device() const override { return kMeta; }
};

// Never destroyed, like every registry: tensors may outlive static destructors.
Allocator& cpu_allocator() {
  static CpuAllocator& a = *new CpuAllocator;
  return a;
}
Allocator& meta_allocator() {
  static MetaAllocator& a = *new MetaAllocator;
  return a;
}

constinit std::atomic<Backend*> backends[kNumDeviceTypes] = {};
constinit std::atomic<DeviceType> accelerator_in_use{kCPU};  // kCPU: none so far

// ---- finding the CUDA backend: a library beside this one

std::string library_beside_this_one() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&register_backend), &info)) return "libargand_cuda.so";
  return (std::filesystem::path(info.dli_fname).parent_path() / "libargand_cuda.so").string();
}

// Loads the library; returns the reason if there is no backend afterwards.  Its entry point registers the backend, or
// returns why it cannot.
std::string load_cuda() {
  if (accelerator_type() != kCUDA)
    return str("this process uses ", device_type_name(accelerator_type()), " devices, and a process has one kind");
  const std::string path = library_beside_this_one();
  if (!std::filesystem::exists(path))
    return "this build of Argand has no CUDA backend (" + path +
           " does not exist); build with the CUDA toolkit, or use device 'cpu'";
  const CallsThatMakeGlobals calls;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return str("the CUDA backend could not be loaded: ", dlerror());
  using Start = const char* (*)();
  const auto start = reinterpret_cast<Start>(dlsym(library, "argand_cuda_start"));
  if (!start) return path + " is not a CUDA backend of this version of Argand";
  const char* reason = start();
  return reason ? reason : "";
}

}  // namespace

void register_backend(DeviceType type, Backend& backend) {
  DeviceType before = kCPU;
  if (!accelerator_in_use.compare_exchange_strong(before, type))
    ARGAND_CHECK(DeviceError, before == type, "the backend of ", device_type_name(type),
                 " cannot be registered: this process uses ", device_type_name(before), " devices already");
  backends[static_cast<int>(type)].store(&backend);
}

DeviceType accelerator_type() {
  const DeviceType type = accelerator_in_use.load(std::memory_order_acquire);
  return type == kCPU ? kCUDA : type;
}

Backend* loaded_backend(DeviceType type) { return backends[static_cast<int>(type)].load(std::memory_order_acquire); }

Backend* find_backend(DeviceType type, std::string* why) {
  if (Backend* b = loaded_backend(type)) return b;
  if (type == kCUDA) {
    static std::string& reason = *new std::string(load_cuda());
    if (Backend* b = loaded_backend(type)) return b;
    if (why) *why = reason;
  } else if (why) {
    *why = str("device '", device_type_name(type), "' has no backend");
  }
  return nullptr;
}

Backend& backend_of(DeviceType type) {
  std::string why;
  Backend* b = find_backend(type, &why);
  ARGAND_CHECK(DeviceError, b != nullptr, "no ", device_type_name(type), " device: ", why);
  return *b;
}

Device with_index(const Device& device) {
  if (!device.is_accelerator() || device.has_index()) return device;
  return Device(device.type(), backend_of(device.type()).current_device());
}

Allocator& allocator_for(const Device& device) {
  if (device.is_cpu()) return cpu_allocator();
  if (device.is_meta()) return meta_allocator();
  return backend_of(device.type()).allocator(with_index(device).index());
}

}  // namespace argand
