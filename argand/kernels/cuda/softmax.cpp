#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/row_form.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/softmax.cuh";
constexpr int kThreads = 256;

void softmax(bool log, const void* in, void* out, ScalarType type, const SoftmaxShape& s) {
  if (s.inner != 1)
    return launch(kernel_instance(kHeader, "softmax_columns", type, log),
                  {blocks_for(s.outer * s.inner, kThreads), kThreads}, in, out, s.outer, s.n, s.inner);
  const RowForm form(s.outer, s.n, vector_width(type, s.n, in, out));
  if (!form.items)
    return launch(kernel_instance(kHeader, "softmax_long_rows", type, form.width, log), form.grid, in, out, s.n);
  launch(kernel_instance(kHeader, "softmax_rows", type, form.width, form.items, form.one_warp, log), form.grid, in, out,
         s.outer, static_cast<int>(s.n));
}

void softmax_backward(bool log, const void* grad, const void* result, void* out, ScalarType type,
                      const SoftmaxShape& s) {
  if (s.inner != 1)
    return launch(kernel_instance(kHeader, "softmax_backward_columns", type, log),
                  {blocks_for(s.outer * s.inner, kThreads), kThreads}, grad, result, out, s.outer, s.n, s.inner);
  const RowForm form(s.outer, s.n, vector_width(type, s.n, grad, result, out));
  if (!form.items)
    return launch(kernel_instance(kHeader, "softmax_backward_long_rows", type, form.width, log), form.grid, grad,
                  result, out, s.n);
  launch(kernel_instance(kHeader, "softmax_backward_rows", type, form.width, form.items, form.one_warp, log), form.grid,
         grad, result, out, s.outer, static_cast<int>(s.n));
}

const bool registered =
    (blocks::softmax.set(kCUDA, softmax), blocks::softmax_backward.set(kCUDA, softmax_backward), true);

}  // namespace
}  // namespace argand::cuda
