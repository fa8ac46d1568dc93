#include "argand/kernels/api/draw.h"

#include <algorithm>

#include "argand/core/cuda_generator.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/graph.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/draw.cuh";
constexpr const char* kRejectionHeader = "argand/kernels/cuda/draw_by_rejection.cuh";
constexpr int kThreads = 256, kRound = 4, kMaskBytes = 16;  // of a thread of draw_mask
static_assert(kNumbersOfMask == kMaskBytes / 8 * kRound);

// As many blocks as can run at once.  The grid determines each element's number, so it equals PyTorch's.
unsigned grid_for(int64_t n) {
  const int64_t most = int64_t{max_threads_per_multi_processor() / kThreads} * multi_processor_count();
  return static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, most));
}

void draw(const Draw& d, ScalarType type, void* out, int64_t n, GeneratorImpl& given) {
  if (n == 0) return;
  auto& generator = dynamic_cast<CudaGeneratorImpl&>(given);
  if (d.kind == Draw::kKept) {
    const unsigned blocks = blocks_for(n, kThreads * kMaskBytes);
    const PhiloxNumbers numbers = d.state ? PhiloxNumbers{0, d.skipped, static_cast<const uint64_t*>(d.state)}
                                          : take_numbers(generator, kNumbersOfMask);
    return launch(kernel(kHeader, "draw_mask"), {blocks, kThreads}, out, n, numbers, static_cast<unsigned>(d.from));
  }
  if (d.kind >= Draw::kGamma) {
    const PhiloxNumbers numbers = take_numbers(generator, kNumbersOfRejection);
    return launch(kernel(kRejectionHeader, instance("draw_by_rejection", type, d.kind - Draw::kGamma)),
                  {blocks_for(n, kThreads), kThreads}, out, n, numbers, d.chances, d.chances_b, d.a);
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

void keep_numbers(GeneratorImpl& given, uint64_t count, void* state) {
  launch(kernel(kHeader, "keep_numbers"), {1, 1}, take_numbers(dynamic_cast<CudaGeneratorImpl&>(given), count), state);
}

const bool registered = (blocks::run_draw.set(kCUDA, draw), blocks::keep_numbers.set(kCUDA, keep_numbers), true);

}  // namespace
}  // namespace argand::cuda
