#include "argand/kernels/fused_step.h"

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kTensorsPerLaunch = 64, kTile = 2048, kThreads = 256;

// As in fused_step.cuh; within the 4 KiB that every kernel may have as arguments.
struct StepTable {
  void* pointers[2 + FusedStep::kMaxStates][kTensorsPerLaunch];
  int64_t numel[kTensorsPerLaunch];
  unsigned first_block[kTensorsPerLaunch];
  int count;
  unsigned scalar;
  double numbers[FusedStep::kMaxNumbers];
};
static_assert(sizeof(StepTable) <= 4096);

void fused_step(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  const Kernel run = kernel("argand/kernels/cuda/fused_step.cuh",
                            instance("fused_step", type, static_cast<int>(step.kind), step.options));
  StepTable table{};
  unsigned blocks = 0;
  std::copy(step.numbers, step.numbers + FusedStep::kMaxNumbers, table.numbers);
  const auto issue = [&] {
    launch(run, {blocks, kThreads}, table);
    table.count = 0;
    table.scalar = 0;
    blocks = 0;
  };
  for (const FusedTensor* t = tensors; t != tensors + count; ++t) {
    if (t->numel == 0) continue;
    const unsigned more = blocks_for(t->numel, kTile);
    if (table.count == kTensorsPerLaunch || blocks + uint64_t{more} >= uint64_t{1} << 31) issue();
    const int i = table.count++;
    void* const pointers[] = {t->param, const_cast<void*>(t->grad), t->states[0], t->states[1], t->states[2]};
    for (int p = 0; p < 2 + FusedStep::kMaxStates; ++p) {
      table.pointers[p][i] = pointers[p];
      table.scalar |= reinterpret_cast<uintptr_t>(pointers[p]) % 16 != 0;
    }
    table.numel[i] = t->numel;
    table.first_block[i] = blocks;
    blocks += more;
  }
  if (table.count > 0) issue();
}

const bool registered = (blocks::run_fused_step.set(kCUDA, fused_step), true);

}  // namespace
}  // namespace argand::cuda
