#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/cross_entropy.cuh";
constexpr int kWarp = 32, kThreads = 256, kLongThreads = 512;

struct CrossEntropyRows {  // as the kernels read it
  const void* logits;
  const int64_t* targets;
  const void* weight;
  int64_t rows, classes, ignore_index;
  double smoothing;
  explicit CrossEntropyRows(const cpu::CrossEntropy& c)
      : logits(c.logits),
        targets(c.targets),
        weight(c.weight),
        rows(c.rows),
        classes(c.classes),
        ignore_index(c.ignore_index),
        smoothing(c.smoothing) {}
};

// How the rows are spread over threads.
struct Plan {
  int width;
  bool one_warp;
  Grid grid;
  Plan(const cpu::CrossEntropy& c, const void* out) {
    width = static_cast<int>(16 / element_size(c.type));
    if (c.classes % width != 0 || (reinterpret_cast<uintptr_t>(c.logits) | reinterpret_cast<uintptr_t>(out)) % 16 != 0)
      width = 1;
    const int64_t vectors = c.classes / width;
    one_warp = vectors <= 256;
    const int threads = vectors > 4096 ? kLongThreads : kThreads;
    grid = {blocks_for(c.rows, one_warp ? kThreads / kWarp : 1), static_cast<unsigned>(threads)};
  }
};

void cross_entropy(const cpu::CrossEntropy& c, void* losses, void* weights, void* log_sums) {
  const Plan p(c, nullptr);
  launch(kernel(kHeader, instance("cross_entropy_rows", c.type, p.width, p.one_warp, c.smoothing != 0)), p.grid,
         CrossEntropyRows(c), losses, weights, log_sums);
}

void cross_entropy_backward(const cpu::CrossEntropy& c, const void* log_sums, const void* scales, int64_t scale_stride,
                            const void* total_weight, void* out) {
  const Plan p(c, out);
  launch(kernel(kHeader, instance("cross_entropy_backward", c.type, p.width, p.one_warp, c.smoothing != 0)), p.grid,
         CrossEntropyRows(c), log_sums, scales, scale_stride, total_weight, out);
}

void cross_entropy_softmax_factors(const cpu::CrossEntropy& c, void* factors) {
  launch(kernel(kHeader, instance("cross_entropy_softmax_factors", op_math_type(c.type))),
         {blocks_for(c.rows, kThreads), kThreads}, CrossEntropyRows(c), factors);
}

const bool registered =
    (blocks::cross_entropy.set(kCUDA, cross_entropy), blocks::cross_entropy_backward.set(kCUDA, cross_entropy_backward),
     blocks::cross_entropy_softmax_factors.set(kCUDA, cross_entropy_softmax_factors), true);

}  // namespace
}  // namespace argand::cuda
