#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/channel_sums.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/row_norm.cuh";
constexpr int64_t kWarp = 32, kThreads = 256, kMaxThreads = 1024;

// As in row_norm.cuh.
struct RowWeights {
  const void *weight, *bias;
  int64_t groups, channels, inner;
};

// How rows of n elements are kept in registers: `items` vectors of `width` by each thread of a warp or of a block.
struct RowForm {
  int width, items = 0;  // no items: too long
  bool one_warp = true;
  Grid grid;
  RowForm(int64_t rows, int64_t n, int width, int max_items) : width(width) {
    for (const bool warp : {true, false}) {
      for (int i = 1; i <= max_items; i *= 2) {
        const int64_t needed = (n + int64_t{width} * i - 1) / (int64_t{width} * i);
        // A block of more than 256 threads only where more items would not do instead.
        if (needed > (warp ? kWarp : i < max_items ? kThreads : kMaxThreads)) continue;
        items = i;
        one_warp = warp;
        grid.threads = static_cast<unsigned>(warp ? kThreads : (needed + kWarp - 1) / kWarp * kWarp);
        grid.blocks = blocks_for(rows, warp ? kThreads / kWarp : 1);
        return;
      }
    }
    grid.threads = static_cast<unsigned>(kMaxThreads);
    grid.blocks = blocks_for(rows, 1);
  }
};

void row_norm(const cpu::RowNorm& c, const void* x, const void* bias, double eps, void* y, void* mean, void* rstd) {
  const int64_t n = c.channels * c.inner;
  const bool columns = c.inner == 1;
  const int width = vector_width(c.type, n, x, y, columns ? c.weight : nullptr, columns ? bias : nullptr);
  const RowForm form(c.rows, n, width, 4);
  const RowWeights w{c.weight, bias, c.groups, c.channels, c.inner};
  const std::string name = form.items ? instance("norm_rows", c.type, width, form.items, form.one_warp, columns)
                                      : instance("norm_long_rows", c.type, width, columns);
  launch(kernel(kHeader, name), form.grid, x, y, mean, rstd, c.rows, n, c.centered, eps, w);
}

void row_norm_backward(const cpu::RowNorm& c, const void* g, const void* x, const void* mean, const void* rstd,
                       void* grad_x, void* grad_weight, void* grad_bias) {
  const int64_t n = c.channels * c.inner;
  const bool columns = c.inner == 1;
  if (grad_x) {
    const int width = vector_width(c.type, n, g, x, grad_x, columns ? c.weight : nullptr);
    const RowForm form(c.rows, n, width, 4);
    const RowWeights w{c.weight, nullptr, c.groups, c.channels, c.inner};
    const std::string name = form.items
                                 ? instance("norm_backward_rows", c.type, width, form.items, form.one_warp, columns)
                                 : instance("norm_backward_long_rows", c.type, width, columns);
    launch(kernel(kHeader, name), form.grid, g, x, mean, rstd, grad_x, c.rows, n, c.centered, w);
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
