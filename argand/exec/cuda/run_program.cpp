#include "argand/exec/cuda/run_program.h"

#include <algorithm>

#include "argand/core/shape.h"
#include "argand/exec/cuda/program_text.h"
#include "argand/kernels/cuda/transposed_copy.h"
#include "argand/runtime/cuda/kernel_table.h"
#include "argand/runtime/cuda/launch.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {
namespace {

cuda::Kernel kernel_for(const PointwiseProgram& p, const KernelForm& form) {
  static cuda::KernelTable& known = *new cuda::KernelTable;
  const KernelKey key = kernel_key(p, form);
  return known.get({key.data(), key.size()},
                   [&] { return cuda::compile(kernel_text(p, form), std::string("argand::") + kKernelName); });
}

// The name of the group in messages: of its one op, or of the last of several.
const char* name_of(const PointwiseProgram& p) { return p.steps.back().body->name; }

}  // namespace

void run_on_gpu(PointwiseProgram& p) {
  const int64_t n = numel_of(p.sizes);
  if (n == 0 || p.steps.empty()) return;
  collapse(p);
  const CurrentOp current(name_of(p));
  if (n >= kSpecialElements && cuda::transposed_copy(p)) return;
  const KernelForm form = form_of(p);
  const cuda::Kernel kernel = kernel_for(p, form);
  SmallVector<char, 512> arguments = kernel_arguments(p, form);
  const int64_t per_block = int64_t{kKernelThreads} * form.width;
  const int64_t blocks =
      std::min<int64_t>((n + per_block - 1) / per_block, int64_t{cuda::multi_processor_count()} * 64);
  void* pointers[] = {arguments.data()};
  cuda::launch_with(kernel, {static_cast<unsigned>(blocks), kKernelThreads}, pointers);
}

}  // namespace argand::exec
