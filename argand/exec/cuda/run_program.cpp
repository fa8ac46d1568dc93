#include "argand/exec/cuda/run_program.h"

#include <algorithm>
#include <optional>

#include "argand/core/shape.h"
#include "argand/exec/cuda/epilogue.h"
#include "argand/exec/cuda/one_order.h"
#include "argand/exec/cuda/program_text.h"
#include "argand/exec/steps.h"
#include "argand/kernels/cuda/transposed_copy.h"
#include "argand/runtime/cuda/background_compiler.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/kernel_table.h"
#include "argand/runtime/cuda/launch.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {
namespace {

cuda::KernelTable& known_kernels() {
  static cuda::KernelTable& known = *new cuda::KernelTable;
  return known;
}

cuda::KernelRequest request_of(const PointwiseProgram& p, const KernelForm& form) {
  return {kernel_text(p, form), kKernelName};
}

std::string_view bytes_of(const KernelKey& key) { return {key.data(), key.size()}; }

// Whether the program can be issued without waiting for the compiler.
bool is_ready(PointwiseProgram p) {
  collapse(p);
  const KernelForm form = form_of(p);
  return known_kernels().find(bytes_of(kernel_key(p, form))) || cuda::is_compiled(request_of(p, form));
}

// Note [Compiling meanwhile].  False: nothing was done, because the kernel is ready or the steps cannot run instead.
bool run_meanwhile(const PointwiseProgram& p, const KernelForm& form) {
  if (p.steps.size() == 1 || !cuda::compiles_meanwhile() || cuda::is_capturing()) return false;
  Steps steps(p);
  if (!std::all_of(steps.programs().begin(), steps.programs().end(), is_ready)) return false;
  if (cuda::is_compiled_or_will_be(request_of(p, form))) return false;
  try {
    steps.run(allocator_for(kCUDA), run_on_gpu);
  } catch (const OutOfMemoryError&) {
    return false;
  }
  return true;
}

// The name of the group in messages: that of its last op.
const char* name_of(const PointwiseProgram& p) { return p.steps.back().body->name; }

}  // namespace

void run_on_gpu(PointwiseProgram& p) {
  const int64_t n = numel_of(p.sizes);
  if (n == 0 || p.steps.empty()) return;
  collapse(p);
  if (becomes_epilogue(p)) return;
  const CurrentOp current(name_of(p));
  if (n >= kSpecialElements && (cuda::transposed_copy(p) || run_in_one_order(p))) return;
  const KernelForm form = form_of(p);
  const KernelKey key = kernel_key(p, form);
  std::optional<cuda::Kernel> kernel = known_kernels().find(bytes_of(key));
  if (!kernel) {
    if (run_meanwhile(p, form)) return;
    kernel = known_kernels().get(bytes_of(key), [&] { return cuda::compile(request_of(p, form)); });
  }
  SmallVector<char, 512> arguments = kernel_arguments(p, form);
  const int64_t per_block = int64_t{kKernelThreads} * form.width;
  const int64_t blocks =
      std::min<int64_t>((n + per_block - 1) / per_block, int64_t{cuda::multi_processor_count()} * 64);
  void* pointers[] = {arguments.data()};
  const size_t sizes[] = {arguments.size()};
  cuda::launch_with(*kernel, {static_cast<unsigned>(blocks), kKernelThreads}, pointers, sizes);
}

}  // namespace argand::exec
