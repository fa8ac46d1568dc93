#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/overlap.cuh";
constexpr int64_t kChunk = 512;  // kBoxChunk there

template <class A>
void keep(ScalarType type, const void* boxes, int64_t n, A threshold, uint8_t* kept) {
  fill_bytes(kept, 1, static_cast<size_t>(n));
  const Kernel in_chunk = kernel_instance(kHeader, "keep_in_chunk", type),
               behind = kernel_instance(kHeader, "drop_behind_chunk", type);
  for (int64_t first = 0; first < n; first += kChunk) {
    launch(in_chunk, Grid{.blocks = 1, .threads = kChunk}, boxes, n, first, threshold, kept);
    const int64_t rest = n - first - kChunk;
    if (rest > 0)
      launch(behind, Grid{.blocks = blocks_for(rest, kChunk), .threads = kChunk}, boxes, n, first, threshold, kept);
  }
}

void keep_apart(ScalarType type, const void* boxes, int64_t n, double threshold, uint8_t* kept) {
  if (n == 0) return;
  if (type == kDouble)
    keep(type, boxes, n, threshold, kept);
  else
    keep(type, boxes, n, float_threshold(threshold), kept);
}

const bool registered = (blocks::keep_apart.set(kCUDA, keep_apart), true);

}  // namespace
}  // namespace argand::cuda
