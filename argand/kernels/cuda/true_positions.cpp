#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/copy.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/true_positions.cuh";
constexpr int kThreads = 256, kTile = 16 * kThreads;

void true_positions(const void* mask, int64_t n, const std::function<int64_t*(int64_t)>& allocate) {
  if (n >= int64_t{1} << 32) throw NotOnDevice("2^32 elements or more");
  if (n == 0) {
    allocate(0);
    return;
  }
  const unsigned tiles = blocks_for(n, kTile);
  const Scratch counts((int64_t{tiles} + 1) * static_cast<int64_t>(sizeof(unsigned)));
  auto* starts = counts.as<unsigned>();
  const bool aligned = reinterpret_cast<uintptr_t>(mask) % 16 == 0;
  launch(kernel(kHeader, "count_true"), {tiles, kThreads}, mask, n, aligned, starts);
  launch(kernel(kHeader, "sum_counts"), {1, 1024}, starts, static_cast<int>(tiles) + 1);
  unsigned count = 0;
  const Device here(kCUDA, backend_of(kCUDA).current_device());
  copy(&count, kCPU, starts + tiles, here, sizeof count, false);
  int64_t* positions = allocate(count);
  if (count > 0)
    launch(kernel(kHeader, "write_true"), {tiles, kThreads}, mask, n, aligned, static_cast<const unsigned*>(starts),
           positions);
}

const bool registered = (blocks::true_positions.set(kCUDA, true_positions), true);

}  // namespace
}  // namespace argand::cuda
