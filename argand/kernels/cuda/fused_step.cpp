#include "argand/kernels/fused_step.h"

#include <algorithm>
#include <iterator>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kVector = 16;

// As few launches as may be: at the end of each, some multiprocessors wait for the others.
template <int kTensors>
void launch_steps(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  using Table = StepTable<kTensors>;
  static_assert(sizeof(Table) <= 32764, "what a kernel may have as arguments");
  static_assert(std::size(Table{}.pointers) == 2 + FusedStep::kMaxStates);
  static_assert(std::size(Table{}.numbers) == FusedStep::kMaxNumbers);
  const Kernel run = kernel("argand/kernels/cuda/fused_step.cuh",
                            instance("fused_step", type, static_cast<int>(step.kind), step.options, kTensors));
  const int64_t tile = kStepThreads * kVector / element_size(type);
  Table table{};
  unsigned blocks = 0;
  std::copy(step.numbers, step.numbers + FusedStep::kMaxNumbers, table.numbers);
  const auto issue = [&] {
    launch(run, {blocks, kStepThreads}, table);
    table.count = 0;
    table.scalar = 0;
    blocks = 0;
  };
  for (const FusedTensor* t = tensors; t != tensors + count; ++t) {
    if (t->numel == 0) continue;
    const unsigned more = blocks_for(t->numel, tile);
    if (table.count == kTensors || blocks + uint64_t{more} >= uint64_t{1} << 31) issue();
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

// A small table costs the host less.
void fused_step(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  if (count <= 16)
    launch_steps<16>(step, type, tensors, count);
  else if (count <= 64)
    launch_steps<64>(step, type, tensors, count);
  else
    launch_steps<256>(step, type, tensors, count);
}

const bool registered = (blocks::run_fused_step.set(kCUDA, fused_step), true);

}  // namespace
}  // namespace argand::cuda
