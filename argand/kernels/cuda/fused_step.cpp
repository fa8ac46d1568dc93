#include "argand/kernels/api/fused_step.h"

#include <algorithm>
#include <iterator>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kVector = 16;

// A small table costs the host less.
int table_size(const StepRun& run) { return run.count <= 16 ? 16 : run.count <= 64 ? 64 : 256; }

// Whether all multiprocessors hold all elements at once.
bool is_small(const StepRun& run) {
  int64_t numel = 0;
  for (const StepTensor* t = run.tensors; t != run.tensors + run.count; ++t) numel += t->numel;
  return numel <= int64_t{multi_processor_count()} * max_threads_per_multi_processor();
}

Kernel kernel_of(const StepRun& run) {
  return kernel_instance("argand/kernels/cuda/fused_step.cuh", is_small(run) ? "small_fused_step" : "fused_step",
                         run.type, static_cast<int>(run.kind), table_size(run));
}

// As few launches as possible: at the end of each, some multiprocessors wait for the others.
template <class A, int kTensors>
void launch_run(const StepRun& run) {
  using Table = StepTable<A, kTensors>;
  static_assert(sizeof(Table) <= 32764, "what a kernel may have as arguments");
  static_assert(std::size(typename Table::Tensor{}.arrays) == 2 + kMostStepStates);
  static_assert(std::size(Table{}.numbers) == kMostStepNumbers);
  const Kernel kernel = kernel_of(run);
  const int64_t tile = is_small(run) ? kStepThreads : kStepThreads * kVector / element_size(run.type);
  Table table{};
  unsigned blocks = 0;
  std::transform(run.numbers, run.numbers + step_counts(run.kind).numbers, table.numbers,
                 [](double x) { return static_cast<A>(x); });
  const auto issue = [&] {
    launch(kernel, {blocks, kStepThreads}, table);
    table.count = 0;
    table.scalar = 0;
    blocks = 0;
  };
  for (const StepTensor* t = run.tensors; t != run.tensors + run.count; ++t) {
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

template <class A>
void launch_sized(const StepRun& run) {
  switch (table_size(run)) {
    case 16:
      return launch_run<A, 16>(run);
    case 64:
      return launch_run<A, 64>(run);
    default:
      return launch_run<A, 256>(run);
  }
}

void fused_step(const StepRun* runs, int64_t count) {
  for (const StepRun* r = runs; r != runs + count; ++r) kernel_of(*r);  // what does not compile has changed nothing
  for (const StepRun* r = runs; r != runs + count; ++r)
    (op_math_type(r->type) == kDouble ? launch_sized<double> : launch_sized<float>)(*r);
}

const bool registered = (blocks::run_fused_step.set(kCUDA, fused_step), true);

}  // namespace
}  // namespace argand::cuda
