#include "argand/runtime/cuda/memory.h"

#include <atomic>
#include <map>
#include <mutex>

#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cuda_events.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/pinned_allocator.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/cuda/virtual_memory.h"
#include "argand/runtime/current_op.h"

namespace argand::cuda {
namespace {

void current_holder(Holder& holder) { holder.op = current_op(); }

class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(int device)
      : device_(device), memory_(device), blocks_(memory_, Device(kCUDA, static_cast<DeviceIndex>(device)).str()) {
    blocks_.set_holder_source(current_holder);
  }
  void* allocate(size_t nbytes) override { return blocks_.allocate(nbytes, current_stream(device_)); }
  void deallocate(void* data, size_t) noexcept override { blocks_.deallocate(data); }
  Device device() const override { return Device(kCUDA, static_cast<DeviceIndex>(device_)); }
  void used(void* data) override { blocks_.used_on(data, current_stream(device_)); }
  CachingAllocator& blocks() { return blocks_; }

 private:
  int device_;
  VirtualMemory memory_;
  CachingAllocator blocks_;
};

class HostPages final : public WithCudaEvents<PinnedSource> {
 public:
  void* allocate(size_t nbytes) noexcept override {
    void* p = nullptr;
    return cudaHostAlloc(&p, nbytes, cudaHostAllocPortable) == cudaSuccess ? p : nullptr;
  }
  void free(void* data, size_t) noexcept override { cudaFreeHost(data); }
  void* record_event(StreamHandle stream) noexcept override {
    const auto* at = static_cast<const StreamRef*>(stream);
    const OnDevice on(at->device);
    return WithCudaEvents::record_event(at->handle);
  }
  // Pinned memory is used by streams of all devices, each of which has a default stream called null: these are told
  // apart by where they are kept, for ever.
  static StreamHandle handle_of(const StreamRef& stream) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::pair<DeviceIndex, void*>, StreamRef>;
    const std::lock_guard lock(mutex);
    return &known.try_emplace({stream.device, stream.handle}, stream).first->second;
  }
};

class HostAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override { return blocks_.allocate(nbytes); }
  void deallocate(void* data, size_t) noexcept override { blocks_.deallocate(data); }
  Device device() const override { return kCPU; }
  void used(void* data) override {
    const int device = thread_device();
    blocks_.used_on(data, HostPages::handle_of({static_cast<DeviceIndex>(device), current_stream(device)}));
  }
  bool pinned() const override { return true; }
  PinnedAllocator& blocks() { return blocks_; }

 private:
  HostPages pages_;
  PinnedAllocator blocks_{pages_};
};

constinit std::atomic<DeviceAllocator*> allocators[kMaxDevices] = {};

DeviceAllocator& allocator_of(int device) {
  if (DeviceAllocator* a = allocators[device].load(std::memory_order_acquire)) return *a;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (!allocators[device].load()) allocators[device].store(new DeviceAllocator(device), std::memory_order_release);
  return *allocators[device].load();
}

HostAllocator& host_allocator() {
  static HostAllocator& a = *new HostAllocator;
  return a;
}

}  // namespace

CachingAllocator& caching_allocator(int device) { return allocator_of(device).blocks(); }
Allocator& device_allocator(int device) { return allocator_of(device); }
Allocator& pinned_allocator() { return host_allocator(); }

void empty_caches() {
  for (auto& a : allocators)
    if (DeviceAllocator* allocator = a.load()) allocator->blocks().empty_cache();
  host_allocator().blocks().empty_cache();
}

}  // namespace argand::cuda
