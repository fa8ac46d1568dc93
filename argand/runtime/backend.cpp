#include "argand/runtime/backend.h"

#include <atomic>
#include <cstring>

#include "argand/base/error.h"
#include "argand/runtime/cpu/aligned_allocator.h"

namespace argand {
namespace {

class CpuAllocator final : public Allocator {
 public:
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

// Leaked, as every registry is: tensors may outlive static destructors.
Allocator& cpu_allocator() {
  static CpuAllocator& a = *new CpuAllocator;
  return a;
}
Allocator& meta_allocator() {
  static MetaAllocator& a = *new MetaAllocator;
  return a;
}

constinit std::atomic<Backend*> backends[kNumDeviceTypes] = {};

}  // namespace

void register_backend(DeviceType type, Backend& backend) { backends[static_cast<int>(type)].store(&backend); }

Backend& backend_of(DeviceType type) {
  Backend* b = backends[static_cast<int>(type)].load();
  ARGAND_CHECK(
      DeviceError, b != nullptr, "no ", device_type_name(type),
      " backend is loaded; `argand info` tells why. Use device 'cpu', or install the backend library and a driver");
  return *b;
}

Allocator& allocator_for(const Device& device) {
  if (device.is_cpu()) return cpu_allocator();
  if (device.is_meta()) return meta_allocator();
  return backend_of(device.type()).allocator(device.index());
}

}  // namespace argand
