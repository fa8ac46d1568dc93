#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/nll_loss.cuh";
constexpr int kThreads = 256;

NllShape shape_of(const NllLossCall& c) { return {c.outer, c.classes, c.inner, c.ignore_index}; }

void nll_loss(const NllLossCall& c, void* losses, void* weights) {
  launch(kernel_instance(kHeader, "nll_loss", c.type, op_math_type(c.type)),
         {blocks_for(c.outer * c.inner, kThreads), kThreads}, c.input, c.targets, c.weight, losses, weights,
         shape_of(c));
}

void nll_loss_backward(const NllLossCall& c, const void* grad, int64_t grad_stride, const void* total_weight,
                       void* out) {
  launch(kernel_instance(kHeader, "nll_loss_backward", c.type, op_math_type(c.type)),
         {blocks_for(c.outer * c.classes * c.inner, kThreads), kThreads}, c.targets, c.weight, grad, grad_stride,
         total_weight, out, shape_of(c));
}

void total_loss(const TotalLossCall& c) {
  constexpr int64_t kOneBlock = 32768, kStep = 8192;
  const void *losses = c.losses, *weights = c.weights;
  const int64_t chunks = c.n <= kOneBlock ? 0 : (c.n + kStep - 1) / kStep;
  const int64_t nbytes = chunks * element_size(c.type);
  const Scratch sums(2 * nbytes);
  if (chunks > 0) {
    void *loss_sums = sums.as<void>(), *weight_sums = sums.as<char>() + nbytes;
    launch(kernel_instance(kHeader, "sum_losses", c.type), {blocks_for(chunks, 1), kThreads}, losses, weights,
           loss_sums, weight_sums, c.n, kStep);
    losses = loss_sums;
    weights = weight_sums;
  }
  launch(kernel_instance(kHeader, "total_loss", c.type, c.loss_type, c.total_type), {1, 1024}, losses, weights, c.loss,
         c.total, chunks > 0 ? chunks : c.n, c.mean);
}

const bool registered = (blocks::nll_loss.set(kCUDA, nll_loss), blocks::nll_loss_backward.set(kCUDA, nll_loss_backward),
                         blocks::total_loss.set(kCUDA, total_loss), true);

}  // namespace
}  // namespace argand::cuda
