#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/softmax.cuh";

// Registers of a thread hold kMaxItems vectors of 16 bytes; rows share a block while a warp is enough for each.
constexpr int kMaxItems = 4, kWarp = 32, kThreads = 256, kLongThreads = 1024;

void softmax(bool log, const void* in, void* out, ScalarType type, const cpu::SoftmaxShape& s) {
  if (s.inner != 1)
    return launch(kernel(kHeader, instance("softmax_columns", type, log)),
                  {blocks_for(s.outer * s.inner, kThreads), kThreads}, in, out, s.outer, s.n, s.inner);
  int width = static_cast<int>(16 / element_size(type));
  while (s.n % width != 0 || reinterpret_cast<uintptr_t>(in) % 16 || reinterpret_cast<uintptr_t>(out) % 16) {
    if (width == 1) break;
    width = 1;
  }
  for (const bool one_warp : {true, false}) {
    const int64_t threads = one_warp ? kWarp : kLongThreads;
    for (int items = 1; items <= kMaxItems; items *= 2) {
      // A block is as large as the row needs, in whole warps.
      const int64_t needed = (s.n + int64_t{width} * items - 1) / (int64_t{width} * items);
      if (needed > threads || (!one_warp && items < kMaxItems && needed > 256)) continue;
      const auto block = static_cast<unsigned>(one_warp ? kThreads : (needed + kWarp - 1) / kWarp * kWarp);
      const int64_t rows_per_block = one_warp ? kThreads / kWarp : 1;
      return launch(kernel(kHeader, instance("softmax_rows", type, width, items, one_warp, log)),
                    {blocks_for(s.outer, rows_per_block), block}, in, out, s.outer, s.n);
    }
  }
  launch(kernel(kHeader, instance("softmax_long_rows", type, log)), {blocks_for(s.outer, 1), kLongThreads}, in, out,
         s.n);
}

void softmax_backward(bool log, const void* grad, const void* result, void* out, ScalarType type,
                      const cpu::SoftmaxShape& s) {
  if (s.inner != 1)
    return launch(kernel(kHeader, instance("softmax_backward_columns", type, log)),
                  {blocks_for(s.outer * s.inner, kThreads), kThreads}, grad, result, out, s.outer, s.n, s.inner);
  const bool one_warp = s.n <= 1024;
  launch(kernel(kHeader, instance("softmax_backward_rows", type, one_warp, log)),
         {blocks_for(s.outer, one_warp ? kThreads / kWarp : 1), kThreads}, grad, result, out, s.outer, s.n);
}

const bool registered =
    (blocks::softmax.set(kCUDA, softmax), blocks::softmax_backward.set(kCUDA, softmax_backward), true);

}  // namespace
}  // namespace argand::cuda
