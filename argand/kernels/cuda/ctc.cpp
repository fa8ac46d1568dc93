#include <algorithm>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/ctc.cuh";
constexpr int64_t kMostThreads = 1024, kWarp = 32, kGradientThreads = 256;
// The number of steps that are read ahead, and their memory: more would leave no room for other blocks on the
// multiprocessor.
constexpr int64_t kMostAhead = 16, kMemoryAhead = 32 << 10;

// The launch arguments of both passes over the sequences.
struct Pass {
  CtcArrays arrays;
  Grid grid;
  explicit Pass(const CtcSequences& q) {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    const int64_t size = element_size(q.type), slots = q.most_labels + 1;
    const int64_t fixed = 2 * q.width() * size + q.most_labels * static_cast<int64_t>(sizeof(int)),
                  ahead = std::clamp<int64_t>(kMemoryAhead / (slots * size), 1, kMostAhead),
                  bytes = fixed + ahead * slots * size;
    if (q.classes > kMost || bytes > shared_memory_per_block())
      throw NotOnDevice("targets that are too long for the shared memory of a block");
    arrays = {q.log_probs,
              q.labels,
              q.begins,
              q.counts,
              q.lengths,
              q.steps,
              q.batch,
              q.classes,
              q.blank,
              static_cast<int>(q.most_labels),
              static_cast<int>(q.width()),
              static_cast<int>(ahead),
              error_slot(),
              q.op};
    grid.blocks = blocks_for(q.batch, 1);
    grid.threads = static_cast<unsigned>(std::min(kMostThreads, (q.width() + kWarp - 1) / kWarp * kWarp));
    grid.shared_memory = static_cast<size_t>(bytes);
  }
};

template <class... Args>
void launch_pass(const char* name, ScalarType type, const Pass& pass, Args... args) {
  const Kernel run = kernel_instance(kHeader, name, type);
  run.allow_shared_memory(pass.grid.shared_memory);
  launch(run, pass.grid, pass.arrays, args...);
}

void ctc_loss(const CtcSequences& q, void* alpha, void* losses) {
  launch_pass("ctc_loss", q.type, Pass(q), alpha, losses);
}

void ctc_loss_backward(const CtcSequences& q, const CtcGradient& g) {
  const Pass pass(q);
  const int64_t labels = q.batch * q.most_labels * static_cast<int64_t>(sizeof(int));
  const Scratch through(q.batch * q.steps * q.width() * element_size(q.type)), checked(labels), links(labels);
  launch_pass("ctc_paths", q.type, pass, g.alpha, through.data(), checked.data(), links.data());
  launch(kernel_instance(kHeader, "ctc_gradient", q.type), {blocks_for(q.steps * q.batch, 1), kGradientThreads},
         pass.arrays, through.data(), checked.data(), links.data(), g.losses, g.grad_losses, g.grad, g.zero_infinity);
}

const bool registered =
    (blocks::ctc_loss.set(kCUDA, ctc_loss), blocks::ctc_loss_backward.set(kCUDA, ctc_loss_backward), true);

}  // namespace
}  // namespace argand::cuda
