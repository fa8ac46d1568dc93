#include <algorithm>
#include <bit>

#include "argand/kernels/api/cross_entropy_forms.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/cross_entropy.cuh";
constexpr int kWarp = 32, kThreads = 256, kLongThreads = 512;

CrossEntropyRows rows_of(const CrossEntropyCall& c) {
  return {c.logits, c.targets, c.weight, c.rows, c.classes, c.ignore_index, c.smoothing};
}

// How the rows are spread over threads.
struct Plan {
  int width;
  bool one_warp;
  Grid grid;
  Plan(const CrossEntropyCall& c, const void* out) {
    width = static_cast<int>(16 / element_size(c.type));
    if (c.classes % width != 0 || (reinterpret_cast<uintptr_t>(c.logits) | reinterpret_cast<uintptr_t>(out)) % 16 != 0)
      width = 1;
    const int64_t vectors = c.classes / width;
    one_warp = vectors <= 256;
    const int threads = vectors > 4096 ? kLongThreads : kThreads;
    grid = {blocks_for(c.rows, one_warp ? kThreads / kWarp : 1), static_cast<unsigned>(threads)};
  }
};

// How blocks go from row to row, the next one arriving in shared memory; no blocks: such rows do not fit.
Grid staged_grid(const CrossEntropyCall& c, const Plan& p) {
  constexpr int64_t kVectorsOfThread = 8, kLargestBlock = 1024, kStatic = 2048, kReserved = 1024;
  Grid none;
  none.blocks = 0;
  if (c.weight || c.smoothing != 0 || p.width == 1 || p.one_warp) return none;
  Grid g;
  g.threads = 256;
  const int64_t vectors = c.classes / p.width, nbytes = 2 * 16 * vectors;
  while (g.threads < kLargestBlock && vectors > kVectorsOfThread * g.threads) g.threads *= 2;
  if (vectors > kVectorsOfThread * g.threads || nbytes + kStatic > shared_memory_per_block()) return none;
  const int64_t together =
      std::min(kLargestBlock / g.threads, shared_memory_per_multi_processor() / (nbytes + kStatic + kReserved));
  g.blocks = static_cast<unsigned>(std::min<int64_t>(c.rows, together * multi_processor_count()));
  g.shared_memory = static_cast<size_t>(nbytes);
  return g;
}

void cross_entropy(const CrossEntropyCall& c, void* losses, void* weights, void* log_sums) {
  Plan p(c, nullptr);
  p.grid.threads = kThreads;
  if (const Grid grid = staged_grid(c, p); grid.blocks > 0)  // what cross_entropy_and_gradient() would give
    return launch(kernel_instance(kHeader, "cross_entropy_losses", c.type, static_cast<int>(grid.threads) / kThreads),
                  p.grid, rows_of(c), losses, weights, log_sums);
  launch(kernel_instance(kHeader, "cross_entropy_rows", c.type, p.width, p.one_warp, c.smoothing != 0), p.grid,
         rows_of(c), losses, weights, log_sums);
}

void backward(const CrossEntropyCall& c, const void* log_sums, const void* scales, int64_t scale_stride,
              const void* total_weight, const void* expected, void* out) {
  const Plan p(c, out);
  launch(kernel_instance(kHeader, "cross_entropy_backward", c.type, p.width, p.one_warp, c.smoothing != 0), p.grid,
         rows_of(c), log_sums, scales, scale_stride, total_weight, expected, out);
}

void cross_entropy_backward(const CrossEntropyCall& c, const void* log_sums, const void* scales, int64_t scale_stride,
                            const void* total_weight, void* out) {
  backward(c, log_sums, scales, scale_stride, total_weight, nullptr, out);
}

void cross_entropy_backward_unless(const CrossEntropyCall& c, const void* log_sums, const void* scale,
                                   const void* total_weight, const void* expected, void* out) {
  backward(c, log_sums, scale, 0, total_weight, expected, out);
}

bool cross_entropy_and_gradient(const CrossEntropyCall& c, bool mean, const void* grad_loss, void* losses,
                                void* weights, void* log_sums, void* gradient) {
  constexpr int64_t kExactCount = 1 << 24;  // in float
  const Grid grid = staged_grid(c, Plan(c, gradient));
  if (grid.blocks == 0 || c.rows > kExactCount) return false;
  const ScalarType type = op_math_type(c.type);
  const Scratch total(mean ? element_size(type) : 0);
  if (mean) launch(kernel_instance(kHeader, "count_targets", type), {1, 1024}, rows_of(c), total.as<void>());
  const Kernel run = kernel_instance(kHeader, "cross_entropy_and_gradient", c.type);
  run.allow_shared_memory(grid.shared_memory);
  launch(run, grid, rows_of(c), losses, weights, log_sums, grad_loss, static_cast<const void*>(total.as<void>()),
         gradient);
  return true;
}

int ceil_log2(int64_t n) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))); }

void small_cross_entropy(const char* op, const CrossEntropyCall& c, bool mean, void* loss, ScalarType loss_type,
                         void* log_sums, void* total_weight, void* gradient) {
  static_assert(!is_small_cross_entropy(kSmallCrossEntropyRows + 1, 1));
  // So many logits a lane as it loads at once, where the warp is wide enough.
  const int at_once = c.classes > 4 * kWarp ? 8 : 4;
  const int log_lanes = std::min(ceil_log2((c.classes + at_once - 1) / at_once), 5);
  const int log_threads = std::clamp(ceil_log2(c.rows) + log_lanes, 5, 10);
  launch(kernel_instance(kHeader, "small_cross_entropy", c.type, loss_type, at_once, c.smoothing != 0),
         {1, 1u << log_threads}, rows_of(c), log_lanes, mean, error_slot(), op, loss, log_sums, total_weight, gradient);
}

void cross_entropy_softmax_factors(const CrossEntropyCall& c, void* factors) {
  launch(kernel_instance(kHeader, "cross_entropy_softmax_factors", op_math_type(c.type)),
         {blocks_for(c.rows, kThreads), kThreads}, rows_of(c), factors);
}

const bool registered =
    (blocks::cross_entropy.set(kCUDA, cross_entropy), blocks::cross_entropy_backward.set(kCUDA, cross_entropy_backward),
     blocks::cross_entropy_softmax_factors.set(kCUDA, cross_entropy_softmax_factors),
     blocks::cross_entropy_and_gradient.set(kCUDA, cross_entropy_and_gradient),
     blocks::cross_entropy_backward_unless.set(kCUDA, cross_entropy_backward_unless),
     blocks::small_cross_entropy.set(kCUDA, small_cross_entropy), true);

}  // namespace
}  // namespace argand::cuda
