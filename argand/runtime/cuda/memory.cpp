#include "argand/runtime/cuda/memory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "argand/base/env.h"
#include "argand/base/error.h"
#include "argand/core/allocating.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cuda_events.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/host_memory.h"
#include "argand/runtime/cuda/memory_monitor.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/page_lock.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/cuda/touched_memory.h"
#include "argand/runtime/cuda/virtual_memory.h"
#include "argand/runtime/current_op.h"
#include "argand/runtime/process_end.h"
#include "argand/runtime/stream_uses.h"

namespace argand::cuda {
namespace {

void current_holder(Holder& holder, size_t nbytes) {
  const char* op = current_op();
  holder.op = *op ? op : nullptr;
  const StorageImpl* storage = allocating_storage();
  if (const auto shape = storage ? written_shape(*storage) : std::nullopt) {
    holder.dtype = dtype_name(shape->dtype);
    holder.ndim = static_cast<int32_t>(shape->sizes.size());
    std::copy_n(shape->sizes.begin(), std::min<size_t>(shape->sizes.size(), Holder::kMaxDims), holder.sizes);
  } else {  // working memory of a kernel, or a tensor that gets its memory before an op writes it
    holder.dtype = "bytes";
    holder.ndim = 1;
    holder.sizes[0] = static_cast<int64_t>(nbytes);
  }
  holder.time_us = now_us();
}

bool guard_mode() {
  static const bool on = env_flag("ARGAND_CUDA_GUARD", false);
  return on;
}

bool caching() {
  static const bool on = env_flag("ARGAND_CUDA_CACHING", true);
  return on || dry_run();
}

// Allocates blocks directly from the driver.
void* allocate_uncached(int device, size_t nbytes) {
  const OnDevice on(device);
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, nbytes);
  if (error != cudaSuccess) cudaGetLastError();
  ARGAND_CHECK(OutOfMemoryError, error == cudaSuccess, "out of memory on cuda:", device,
               " (ARGAND_CUDA_CACHING=0): ", nbytes, " bytes: ", cudaGetErrorString(error));
  return data;
}
void deallocate_uncached(int device, void* data) noexcept {
  issue_tapes_quietly(device, FlushCause::kMemory);
  const OnDevice on(device);
  cudaFree(data);  // waits for all work of the device
}

constinit std::atomic<void (*)()> pressure_callback{nullptr};

std::unique_ptr<DeviceMemory> memory_of(int device) {
  if (dry_run()) return std::make_unique<HostMemory>(device);
  return std::make_unique<VirtualMemory>(device);
}

class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(int device)
      : device_(device),
        memory_(memory_of(device)),
        blocks_(*memory_, Device(kCUDA, static_cast<DeviceIndex>(device)).str()),
        monitor_(blocks_, *memory_) {
    asks_beyond_ = kLargePage;
    blocks_.set_holder_source(current_holder);
    blocks_.set_guard(guard_mode());
    blocks_.set_on_pressure([] {
      if (const auto callback = pressure_callback.load()) callback();
    });
  }
  void* allocate(size_t nbytes) override {
    const DeviceCalls calls;  // before the locks of the blocks
    if (!caching()) return allocate_uncached(device_, nbytes);
    void* data = blocks_.allocate(nbytes, current_stream(device_));
    if (dry_run() && data) std::memset(data, 0, nbytes);  // what kernels that do not run leave unwritten
    return data;
  }
  // Sizes that seem too large are tried: only allocate() knows, and its error has the table of memory holders.
  void ask(size_t nbytes) override {
    if (!blocks_.may_have(nbytes)) deallocate(allocate(nbytes), nbytes);
  }
  void deallocate(void* data, size_t nbytes) noexcept override {
    const DeviceCalls calls(std::nothrow);
    forget_lost_memory(data, nbytes);
    if (!caching()) return deallocate_uncached(device_, data);
    blocks_.deallocate(data);
  }
  Device device() const override { return Device(kCUDA, static_cast<DeviceIndex>(device_)); }
  void used(void* data) override {
    if (caching()) blocks_.used_on(data, current_stream(device_));
  }
  CachingAllocator& blocks() { return blocks_; }
  MemoryMonitor& monitor() { return monitor_; }
  DeviceMemory& memory() { return *memory_; }

 private:
  int device_;
  std::unique_ptr<DeviceMemory> memory_;
  CachingAllocator blocks_;
  CachingMonitor monitor_;
};

class HostPages final : public WithCudaEvents<PinnedSource> {
 public:
  void* allocate(size_t nbytes) noexcept override {
    const DeviceCalls calls(std::nothrow);
    return lock_pages(nbytes);
  }
  void free(void* data, size_t) noexcept override {
    const DeviceCalls calls(std::nothrow);
    cudaFreeHost(data);
  }
  void* record_event(StreamHandle stream) noexcept override {
    const auto* at = static_cast<const StreamRef*>(stream);
    const OnDevice on(at->device);
    return WithCudaEvents::record_event(at->handle);
  }
  // Pinned memory is used by streams of all devices, each of which has a default stream called null: these are told
  // apart by the address of a permanent copy.
  static StreamHandle handle_of(const StreamRef& stream) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::pair<DeviceIndex, void*>, StreamRef>;
    const std::lock_guard lock(mutex);
    return &known.try_emplace({stream.device, stream.handle}, stream).first->second;
  }
};

std::unique_ptr<PinnedSource> pages() {
  if (dry_run()) return std::make_unique<PlainPages>();
  return std::make_unique<HostPages>();
}

class HostAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override {
    const DeviceCalls calls;  // before the locks of the blocks
    return blocks_.allocate(nbytes);
  }
  void deallocate(void* data, size_t) noexcept override {
    const DeviceCalls calls(std::nothrow);
    blocks_.deallocate(data);
  }
  Device device() const override { return kCPU; }
  void used(void* data) override {
    const int device = thread_device();
    const StreamRef stream{static_cast<DeviceIndex>(device), current_stream(device)};
    blocks_.used_on(data, dry_run() ? stream.handle : HostPages::handle_of(stream));
  }
  bool pinned() const override { return true; }
  PinnedAllocator& blocks() { return blocks_; }

 private:
  std::unique_ptr<PinnedSource> pages_ = pages();
  PinnedAllocator blocks_{*pages_};
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

// Memory of other processes that is mapped here, by the address of its first byte.
class MappedMemory {
 public:
  void add(void* data, void* base, const SharedMemory& memory) {
    const std::lock_guard lock(mutex_);
    mapped_[data] = {base, memory};
  }
  std::pair<void*, SharedMemory> remove(void* data) {
    const std::lock_guard lock(mutex_);
    const auto found = mapped_.extract(data);
    return found ? std::move(found.mapped()) : std::pair<void*, SharedMemory>();
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::pair<void*, SharedMemory>> mapped_;
};

MappedMemory& mapped_memory() {
  static MappedMemory& memory = *new MappedMemory;
  return memory;
}

}  // namespace

CachingAllocator& caching_allocator(int device) { return allocator_of(device).blocks(); }

void register_stream_uses() {
  static constexpr StreamUses uses{
      [](const StreamRef& side) { return caching_allocator(side.device).mark(side.handle); },
      [](const StreamRef& owner, const StreamRef& side, uint64_t mark) noexcept {
        caching_allocator(side.device).joined(owner.handle, side.handle, mark);
      }};
  StreamUses::of_gpus.store(&uses);
}
Allocator& device_allocator(int device) { return allocator_of(device); }
MemoryMonitor& memory_monitor(int device) { return allocator_of(device).monitor(); }
Allocator& pinned_allocator() { return host_allocator(); }
PinnedAllocator& pinned_blocks() { return host_allocator().blocks(); }

bool can_share_memory(int device) { return caching() && allocator_of(device).memory().can_share(); }

SharedMemory share_memory(int device, const void* data, size_t nbytes) {
  const DeviceCalls calls;  // before the locks of the blocks
  ARGAND_CHECK(DeviceError, caching(), "memory of cuda:", device,
               " is not shared with other processes under ARGAND_CUDA_CACHING=0");
  SharedMemory out;
  if (allocator_of(device).blocks().share(data, nbytes, out)) return out;
  for (const SharedPiece& piece : out.pieces) close(piece.descriptor);
  ARGAND_CHECK(DeviceError, can_share_memory(device), "memory of cuda:", device,
               " cannot be shared with other processes: the driver gives out none that can (as in some containers and "
               "virtual machines), or ARGAND_CUDA_SHARING=0 forbids it");
  throw DeviceError(str("memory at ", reinterpret_cast<uintptr_t>(data), " of cuda:", device,
                        " cannot be shared with other processes: it is another library's, or there are no descriptors "
                        "left (ulimit -n)"));
}

void* map_shared_memory(int device, const SharedMemory& memory) {
  const DeviceCalls calls;
  void* base = allocator_of(device).memory().map_shared(memory);
  ARGAND_CHECK(DeviceError, base, "cuda:", device,
               ": memory that another process shared could not be mapped: ", memory.pieces.size(), " pieces, ",
               memory.mapped_bytes(), " bytes");
  void* data = static_cast<std::byte*>(base) + memory.offset;
  mapped_memory().add(data, base, memory);
  return data;
}

bool unmap_shared_memory(int device, void* data) noexcept {
  const DeviceCalls calls(std::nothrow);
  for (auto& a : allocators) {
    DeviceAllocator* allocator = a.load();
    if (allocator && allocator->blocks().capture_under_way()) return false;
  }
  for (auto& a : allocators)  // any of them may have work on it
    if (DeviceAllocator* allocator = a.load()) allocator->memory().synchronize();
  const auto [base, memory] = mapped_memory().remove(data);
  if (base) allocator_of(device).memory().unmap_shared(base, memory);
  return true;
}

void set_pressure_callback(void (*callback)()) { pressure_callback.store(callback); }

void check_guards(int device) {
  if (!guard_mode()) return;
  if (DeviceAllocator* allocator = allocators[device].load()) allocator->blocks().check_guards();
}

void empty_caches() {
  for (auto& a : allocators)
    if (DeviceAllocator* allocator = a.load()) allocator->blocks().empty_cache();
  host_allocator().blocks().empty_cache();
}

}  // namespace argand::cuda
