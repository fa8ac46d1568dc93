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

int multi_processor_count() {
  if (dry_run()) return 132;
  static constinit std::atomic<int> counts[kMaxDevices] = {};
  int device = 0;
  ARGAND_CUDA(cudaGetDevice(&device));
  int n = counts[device].load(std::memory_order_relaxed);
  if (n == 0) {
    ARGAND_CUDA(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device));
    counts[device].store(n, std::memory_order_relaxed);
  }
  return n;
}

}  // namespace argand::cuda
