// The negative log likelihood of class indices, and the total of losses.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// A thread per place.
template <class T, class A>
__global__ void nll_loss(const T* input, const int64_t* targets, const T* weight, A* losses, A* weights, NllShape s) {
  await_earlier_work();
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= s.outer * s.inner) return;
  const int64_t t = targets[at];
  A w = 0, loss = 0;
  if (t != s.ignore_index && t >= 0 && t < s.classes) {  // an index out of range has been reported
    w = weight ? convert<A>(weight[t]) : A(1);
    loss = -w * convert<A>(input[(at / s.inner * s.classes + t) * s.inner + at % s.inner]);
  }
  losses[at] = loss;
  weights[at] = w;
}

// A thread per element of the gradient.
template <class T, class A>
__global__ void nll_loss_backward(const int64_t* targets, const T* weight, const T* grad, int64_t grad_stride,
                                  const T* total_weight, T* out, NllShape s) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.outer * s.classes * s.inner) return;
  const int64_t c = i / s.inner % s.classes, at = i / (s.inner * s.classes) * s.inner + i % s.inner;
  const int64_t t = targets[at];
  A g = 0;
  if (t == c && t != s.ignore_index)
    g = -(weight ? convert<A>(weight[c]) : A(1)) * convert<A>(grad[at * grad_stride]) /
        (total_weight ? convert<A>(*total_weight) : A(1));
  out[i] = convert<T>(g);
}

// Block b adds elements [b * step, (b + 1) * step) of both arrays into element b of two others.
template <class A>
__global__ void sum_losses(const A* losses, const A* weights, A* loss_sums, A* weight_sums, int64_t n, int64_t step) {
  await_earlier_work();
  const int64_t begin = blockIdx.x * step, end = begin + step < n ? begin + step : n;
  A loss = 0, weight = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    loss += losses[i];
    weight += weights[i];
  }
  loss = block_reduce(loss, Add(), A(0));
  weight = block_reduce(weight, Add(), A(0));
  if (threadIdx.x > 0) return;
  loss_sums[blockIdx.x] = loss;
  weight_sums[blockIdx.x] = weight;
}

// The same of all, by one block, as the result is given.
template <class A, class L, class W>
__global__ void __launch_bounds__(1024)
    total_loss(const A* losses, const A* weights, L* loss_out, W* total_out, int64_t n, bool mean) {
  await_earlier_work();
  A loss = 0, weight = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    loss += losses[i];
    weight += weights[i];
  }
  loss = block_reduce(loss, Add(), A(0));
  weight = block_reduce(weight, Add(), A(0));
  if (threadIdx.x > 0) return;
  if (loss_out) *loss_out = convert<L>(mean ? loss / weight : loss);
  *total_out = convert<W>(weight);
}

}  // namespace argand
