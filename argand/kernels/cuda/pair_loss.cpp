#include <algorithm>
#include <bit>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/reduce.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/pair_loss.cuh";
constexpr unsigned kThreads = 256, kLargestBlock = 1024;

const char* loss_name(PairLossKind kind) {
  switch (kind) {
    case PairLossKind::kSquare:
      return "argand::Square";
    case PairLossKind::kAbs:
      return "argand::Abs";
    case PairLossKind::kSmoothL1:
      return "argand::SmoothL1";
    case PairLossKind::kHuber:
      return "argand::Huber";
  }
  ARGAND_ASSERT(false, "pair_loss: a kind without a body");
}

int width_of(ScalarType type, std::initializer_list<const void*> arrays) {
  for (const void* p : arrays)
    if (reinterpret_cast<uintptr_t>(p) % 16 != 0) return 1;
  return static_cast<int>(16 / element_size(type));
}

// Enough for a vector each, in warps, a power of two.
unsigned threads_for(int64_t n, int width, unsigned most) {
  const auto vectors = static_cast<uint64_t>(std::clamp((n + width - 1) / width, int64_t{32}, int64_t{most}));
  return static_cast<unsigned>(std::bit_ceil(vectors));
}

void run(const PairLossCall& c, int order, const void* grad, bool each, double scale, void* out) {
  const int width = width_of(c.type, {c.x, c.y, out, each ? grad : nullptr});
  const unsigned threads = threads_for(c.n, width, kThreads);
  launch(kernel_instance(kHeader, "pair_loss", c.type, loss_name(c.kind), order, each, width),
         {blocks_for(c.n, int64_t{threads} * width), threads}, c.x, c.y, grad, out, c.parameter, scale, c.n);
}

void pair_loss(const PairLossCall& c, void* out) { run(c, 0, nullptr, false, 1, out); }

void pair_loss_derivative(const PairLossCall& c, int order, const void* grad, int64_t grad_stride, double scale,
                          void* out) {
  run(c, order, grad, grad != nullptr && grad_stride != 0, scale, out);
}

void pair_loss_sum(const PairLossCall& c, bool mean, void* out) {
  constexpr int64_t kOneBlock = 32768, kSmallestChunk = 8192, kLargestChunk = 262144, kBlocks = 4096;
  const ScalarType type = op_math_type(c.type);
  const int width = width_of(c.type, {c.x, c.y});
  // The sums are those of the full block, whose further threads would add zeros.
  const auto launch_sums = [&](const std::string& store, const void* store_object, int64_t step, int64_t blocks) {
    const unsigned threads = blocks == 1 ? threads_for(c.n, width, kLargestBlock) : kThreads;
    const int at_once = c.n <= int64_t{threads} * width ? 1 : 4;
    const Kernel k =
        kernel(kHeader, instance("pair_loss_sum", c.type, loss_name(c.kind), width, at_once, store.c_str()));
    const void *x = c.x, *y = c.y;
    double parameter = c.parameter;
    int64_t n = c.n;
    void* args[] = {&x, &y, const_cast<void*>(store_object), &parameter, &n, &step};
    const size_t sizes[] = {sizeof x, sizeof y, sizeof(void*)};
    launch_with(k, {blocks_for(blocks, 1), threads}, args, sizes);
  };
  if (c.n <= kOneBlock) {
    const FinishedStore finished(out, mean ? ReduceFinish::kDivide : ReduceFinish::kNone, static_cast<double>(c.n));
    return launch_sums(instance("argand::StoreFinished", type, c.type), &finished, kOneBlock, 1);
  }
  const int64_t blocks = std::max(std::min((c.n + kSmallestChunk - 1) / kSmallestChunk, kBlocks),
                                  (c.n + kLargestChunk - 1) / kLargestChunk);
  const int64_t step = ((c.n + blocks - 1) / blocks + 15) / 16 * 16, chunks = (c.n + step - 1) / step;
  const Scratch partial(chunks * element_size(type));
  void* const to_partial = partial.as<void>();
  launch_sums(instance("argand::StorePartial", type), &to_partial, step, chunks);
  ReduceCall total{ReduceKind::kSum, partial.as<void>(), type, type, out};
  total.finish = mean ? ReduceFinish::kDivide : ReduceFinish::kNone;
  total.number = static_cast<double>(c.n);
  total.out_type = c.type;
  blocks::reduce.on(kCUDA)(total, ReduceLayout({chunks}, {1}, {0}));
}

const bool registered =
    (blocks::pair_loss.set(kCUDA, pair_loss), blocks::pair_loss_derivative.set(kCUDA, pair_loss_derivative),
     blocks::pair_loss_sum.set(kCUDA, pair_loss_sum), true);

}  // namespace
}  // namespace argand::cuda
