#include "argand/runtime/cuda/launch.h"

#include <atomic>

#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/host_memory.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

namespace {
struct Fill {
  void* at;
  size_t nbytes;
  uint64_t value;
};
constexpr size_t kLongFill = size_t{64} << 20;  // takes longer than a launch
}  // namespace

void launch_with(const Kernel& kernel, const Grid& grid, void** args, std::span<const size_t> sizes,
                 const EpilogueSlot* slot) {
  if (grid.blocks == 0 || grid.blocks_y == 0 || grid.blocks_z == 0) return;
  if (!dry_run()) return put_kernel(kernel, grid, args, slot);
  for (size_t i = 0; i < sizes.size(); ++i) HostMemory::check_reach(thread_device(), args[i], sizes[i]);
}

void fill_bytes(void* at, uint8_t value, size_t nbytes) {
  if (nbytes == 0) return;
  if (dry_run()) return HostMemory::check_reach(thread_device(), &at, sizeof at);
  const Fill fill{at, nbytes, value};
  put_call(
      [](const void* data, void* stream) {
        const auto* f = static_cast<const Fill*>(data);
        ARGAND_CUDA(cudaMemsetAsync(f->at, static_cast<int>(f->value), f->nbytes, static_cast<cudaStream_t>(stream)));
      },
      fill, nbytes > kLongFill);
}

namespace {

// Asked once per device.
class Attribute {
 public:
  constexpr explicit Attribute(cudaDeviceAttr which) : which_(which) {}
  int get() {
    const int device = thread_device();
    int n = values_[device].load(std::memory_order_relaxed);
    if (n == 0) {
      ARGAND_CUDA(cudaDeviceGetAttribute(&n, which_, device));
      values_[device].store(n, std::memory_order_relaxed);
    }
    return n;
  }

 private:
  cudaDeviceAttr which_;
  std::atomic<int> values_[kMaxDevices] = {};
};
constinit Attribute processors(cudaDevAttrMultiProcessorCount);
constinit Attribute resident_threads(cudaDevAttrMaxThreadsPerMultiProcessor);
constinit Attribute block_memory(cudaDevAttrMaxSharedMemoryPerBlockOptin);
constinit Attribute processor_memory(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
constinit Attribute major(cudaDevAttrComputeCapabilityMajor);

}  // namespace

int multi_processor_count() { return dry_run() ? 132 : processors.get(); }
int max_threads_per_multi_processor() { return dry_run() ? 2048 : resident_threads.get(); }
int shared_memory_per_block() { return dry_run() ? 227 << 10 : block_memory.get(); }
int shared_memory_per_multi_processor() { return dry_run() ? 228 << 10 : processor_memory.get(); }
bool has_tensor_cores() { return dry_run() || major.get() >= 8; }
bool has_warpgroup_products() { return dry_run() || major.get() == 9; }

}  // namespace argand::cuda
