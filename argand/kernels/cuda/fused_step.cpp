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
template <class A, int kTensors>
void launch_steps(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  using Table = StepTable<A, kTensors>;
  static_assert(sizeof(Table) <= 32764, "what a kernel may have as arguments");
  static_assert(std::size(typename Table::Tensor{}.arrays) == 2 + FusedStep::kMaxStates);
  static_assert(std::size(Table{}.numbers) == FusedStep::kMaxNumbers);
  // What all multiprocessors hold at once.
  const int64_t few = int64_t{multi_processor_count()} * max_threads_per_multi_processor();
  int64_t numel = 0;
  for (const FusedTensor* t = tensors; t != tensors + count; ++t) numel += t->numel;
  const bool small = numel <= few;
  const Kernel run = kernel_instance("argand/kernels/cuda/fused_step.cuh", small ? "small_fused_step" : "fused_step",
                                     type, static_cast<int>(step.kind), step.options, kTensors);
  const int64_t tile = small ? kStepThreads : kStepThreads * kVector / element_size(type);
  Table table{};
  unsigned blocks = 0;
  std::transform(step.numbers, step.numbers + FusedStep::kMaxNumbers, table.numbers,
                 [](double x) { return static_cast<A>(x); });
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
    table.tensors[i] = {{t->param, const_cast<void*>(t->grad), t->states[0], t->states[1], t->states[2]}, t->numel};
    for (const void* array : table.tensors[i].arrays) table.scalar |= reinterpret_cast<uintptr_t>(array) % 16 != 0;
    table.first_block[i] = blocks;
    blocks += more;
  }
  if (table.count > 0) issue();
}

// A small table costs the host less.
template <class A>
void launch_all(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  if (count <= 16)
    launch_steps<A, 16>(step, type, tensors, count);
  else if (count <= 64)
    launch_steps<A, 64>(step, type, tensors, count);
  else
    launch_steps<A, 256>(step, type, tensors, count);
}

void fused_step(const FusedStep& step, ScalarType type, const FusedTensor* tensors, int64_t count) {
  (op_math_type(type) == kDouble ? launch_all<double> : launch_all<float>)(step, type, tensors, count);
}

const bool registered = (blocks::run_fused_step.set(kCUDA, fused_step), true);

}  // namespace
}  // namespace argand::cuda
