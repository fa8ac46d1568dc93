#include "argand/runtime/cuda/memory.h"

#include <atomic>
#include <mutex>

#include "argand/runtime/cuda/check.h"
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

class HostPages final : public PinnedSource {
 public:
  void* allocate(size_t nbytes) noexcept override {
    void* p = nullptr;
    return cudaHostAlloc(&p, nbytes, cudaHostAllocPortable) == cudaSuccess ? p : nullptr;
  }
  void free(void* data, size_t) noexcept override { cudaFreeHost(data); }
  void* record_event(StreamHandle stream) noexcept override {
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) return nullptr;
    if (cudaEventRecord(event, static_cast<cudaStream_t>(stream)) == cudaSuccess) return event;
    cudaEventDestroy(event);
    return nullptr;
  }
  bool event_done(void* event) noexcept override {
    return cudaEventQuery(static_cast<cudaEvent_t>(event)) != cudaErrorNotReady;
  }
  void wait_event(void* event) noexcept override { cudaEventSynchronize(static_cast<cudaEvent_t>(event)); }
  void drop_event(void* event) noexcept override { cudaEventDestroy(static_cast<cudaEvent_t>(event)); }
};

class HostAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override { return blocks_.allocate(nbytes); }
  void deallocate(void* data, size_t) noexcept override { blocks_.deallocate(data); }
  Device device() const override { return kCPU; }
  void used(void* data) override { blocks_.used_on(data, current_stream()); }
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
