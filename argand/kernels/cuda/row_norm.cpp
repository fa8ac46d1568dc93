#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/channel_sums.h"
#include "argand/kernels/cuda/row_form.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/row_norm.cuh";

void row_norm(const RowNormCall& c, const void* x, const void* bias, double eps, void* y, void* mean, void* rstd) {
  const int64_t n = c.channels * c.inner;
  const bool columns = c.inner == 1;
  const int width = vector_width(c.type, n, x, y, columns ? c.weight : nullptr, columns ? bias : nullptr);
  const RowForm form(c.rows, n, width);
  const RowWeights<void> w{c.weight, bias, c.groups, c.channels, c.inner};
  if (form.items)
    launch(kernel_instance(kHeader, "norm_rows", c.type, width, form.items, form.one_warp, columns), form.grid, x, y,
           mean, rstd, c.rows, static_cast<int>(n), c.centered, eps, w);
  else
    launch(kernel_instance(kHeader, "norm_long_rows", c.type, width, columns), form.grid, x, y, mean, rstd, c.rows, n,
           c.centered, eps, w);
}

void row_norm_backward(const RowNormCall& c, const void* g, const void* x, const void* mean, const void* rstd,
                       void* grad_x, void* grad_weight, void* grad_bias) {
  const int64_t n = c.channels * c.inner;
  const bool columns = c.inner == 1;
  if (grad_x) {
    const int width = vector_width(c.type, n, g, x, grad_x, columns ? c.weight : nullptr);
    const RowForm form(c.rows, n, width);
    const RowWeights<void> w{c.weight, nullptr, c.groups, c.channels, c.inner};
    if (form.items)
      launch(kernel_instance(kHeader, "norm_backward_rows", c.type, width, form.items, form.one_warp, columns),
             form.grid, g, x, mean, rstd, grad_x, c.rows, static_cast<int>(n), c.centered, w);
    else
      launch(kernel_instance(kHeader, "norm_backward_long_rows", c.type, width, columns), form.grid, g, x, mean, rstd,
             grad_x, c.rows, n, c.centered, w);
  }
  if (grad_weight || grad_bias)
    channel_products(
        {c.type, c.rows / c.groups, c.groups * c.channels, c.inner}, g, x,
        {c.centered ? mean : nullptr, rstd, std::max<int64_t>(c.channels, 1), std::max<int64_t>(c.rows, 1)}, grad_bias,
        grad_weight);
}

const bool registered =
    (blocks::row_norm.set(kCUDA, row_norm), blocks::row_norm_backward.set(kCUDA, row_norm_backward), true);

}  // namespace
}  // namespace argand::cuda
