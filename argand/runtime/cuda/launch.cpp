#include "argand/runtime/cuda/launch.h"

#include <atomic>

#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/current_op.h"

namespace argand::cuda {

void launch_with(const Kernel& kernel, const Grid& grid, void** args) {
  if (grid.blocks == 0 || grid.blocks_y == 0 || grid.blocks_z == 0) return;
  note_launch(current_op());
  if (dry_run()) return;
  ARGAND_CUDA(cudaLaunchKernel(kernel.function(), dim3(grid.blocks, grid.blocks_y, grid.blocks_z),
                               dim3(grid.threads, grid.threads_y), args, grid.shared_memory, current_stream()));
}

void fill_bytes(void* at, uint8_t value, size_t nbytes) {
  if (dry_run()) return;
  ARGAND_CUDA(cudaMemsetAsync(at, value, nbytes, current_stream()));
}

namespace {

// Asked once per device.
class Attribute {
 public:
  constexpr explicit Attribute(cudaDeviceAttr which) : which_(which) {}
  int get() {
    int device = 0, n = 0;
    ARGAND_CUDA(cudaGetDevice(&device));
    n = values_[device].load(std::memory_order_relaxed);
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

}  // namespace

int multi_processor_count() { return dry_run() ? 132 : processors.get(); }
int max_threads_per_multi_processor() { return dry_run() ? 2048 : resident_threads.get(); }

}  // namespace argand::cuda
