#include "argand/kernels/draw.h"

#include <algorithm>

#include "argand/core/cuda_generator.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/graph.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/draw.cuh";
constexpr int kThreads = 256, kRound = 4, kMaskBytes = 16;  // of a thread of draw_mask

// As many blocks as run at a time: the grid decides which number goes where, so it is PyTorch's.
unsigned grid_for(int64_t n) {
  const int64_t most = int64_t{max_threads_per_multi_processor() / kThreads} * multi_processor_count();
  return static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, most));
}

void draw(const Draw& d, ScalarType type, void* out, int64_t n, GeneratorImpl& given) {
  if (n == 0) return;
  auto& generator = dynamic_cast<CudaGeneratorImpl&>(given);
  if (d.kind == Draw::kKept) {
    const unsigned blocks = blocks_for(n, kThreads * kMaskBytes);
    const int64_t rounds = kMaskBytes / 8;
    return launch(kernel(kHeader, "draw_mask"), {blocks, kThreads}, out, n,
                  take_numbers(generator, static_cast<uint64_t>(rounds * kRound)), static_cast<unsigned>(d.from));
  }
  const bool integers = d.kind == Draw::kIntegers;
  const Kernel run = kernel(
      kHeader, integers ? instance("draw_integers", type, d.wide) : instance("draw", type, static_cast<int>(d.kind)));
  const unsigned blocks = grid_for(n);
  const int64_t each = (integers ? d.wide : type == kDouble) ? kRound / 2 : kRound;
  const int64_t rounds = (n - 1) / (int64_t{blocks} * kThreads * each) + 1;
  const PhiloxNumbers philox = take_numbers(generator, static_cast<uint64_t>(rounds * kRound));
  const DrawNumbers numbers{d.a, d.b, d.from, d.range};
  if (integers)
    launch(run, {blocks, kThreads}, out, n, philox, numbers);
  else
    launch(run, {blocks, kThreads}, out, n, philox, numbers, d.chances);
}

const bool registered = (blocks::run_draw.set(kCUDA, draw), true);

}  // namespace
}  // namespace argand::cuda
