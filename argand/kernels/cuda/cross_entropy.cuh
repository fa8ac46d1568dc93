// Cross entropy of rows of logits with class indices, one pass over the logits each way.  float16 and bfloat16 compute
// in float.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/row_threads.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

struct CrossEntropyRows {
  const void* logits;
  const int64_t* targets;
  const void* weight;  // of the arithmetic type, or null
  int64_t rows, classes, ignore_index;
  double smoothing;
};

// e^x for the terms of a sum whose largest is 1: the error that x log2(e) brings grows with |x|, but x e^x does not.
__device__ __forceinline__ float exp_term(float x) {
  constexpr float kLog2E = 0x1.715476p+0f;
  return ::exp2f(x * kLog2E);
}
__device__ __forceinline__ double exp_term(double x) { return math::exp(x); }

// One row per group of threads.  The largest logit so far is what the sum so far is relative to.
template <class T, int W, bool kOneWarp, bool kSmooth>
__global__ void __launch_bounds__(512)
    cross_entropy_rows(CrossEntropyRows c, op_math_t<T>* losses, op_math_t<T>* weights, op_math_t<T>* log_sums) {
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  constexpr int U = W > 1 ? 4 : 8;
  constexpr A kLow = -math::detail::kInfinity<A>;
  const int64_t row = Group::row(), n = c.classes;
  if (row >= c.rows) return;
  const int64_t target = c.targets[row];
  if (target == c.ignore_index || target < 0 || target >= n) {  // an index out of range has been reported
    if (Group::rank() == 0) losses[row] = weights[row] = log_sums[row] = 0;
    return;
  }
  const T* in = static_cast<const T*>(c.logits) + row * n;
  const A* w = static_cast<const A*>(c.weight);
  A top = kLow, sum = 0, weighted = 0, total = 0;
  const int64_t stride = int64_t{Group::count()} * W;
  for (int64_t i = int64_t{Group::rank()} * W; i < n; i += U * stride) {
    Vec<T, W> v[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u * stride < n) v[u] = *reinterpret_cast<const Vec<T, W>*>(in + i + u * stride);
    A x[U][W], high = top;
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k) {
        x[u][k] = i + u * stride < n ? convert<A>(v[u][k]) : kLow;
        high = math::max(high, x[u][k]);
      }
    const A shift = high == kLow ? A(0) : high;
    sum *= exp_term(top - shift);
    top = high;
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k) {
        sum += exp_term(x[u][k] - shift);
        if constexpr (kSmooth) {
          if (i + u * stride < n) {
            const A factor = w ? w[i + u * stride + k] : A(1);
            weighted += factor * x[u][k];
            total += factor;
          }
        }
      }
  }
  const A high = Group::reduce(top, Max(), kLow);
  sum = Group::reduce(sum * exp_term(top - (high == kLow ? A(0) : high)), Add(), A(0));
  if constexpr (kSmooth) {
    weighted = Group::reduce(weighted, Add(), A(0));
    total = Group::reduce(total, Add(), A(0));
  }
  if (Group::rank() > 0) return;
  const A smoothing = static_cast<A>(c.smoothing), log_sum = math::log(sum), factor = w ? w[target] : A(1);
  // -log p = log_sum - (x - high), as log_softmax rounds it.
  A loss = (1 - smoothing) * factor * -(convert<A>(in[target]) - high - log_sum);
  if constexpr (kSmooth) loss += smoothing / static_cast<A>(n) * (total * log_sum - (weighted - total * high));
  losses[row] = loss;
  weights[row] = factor;
  log_sums[row] = high + log_sum;
}

// The gradient: scale * (factor * softmax - uniform * w - picked at the target).
template <class T, int W, bool kOneWarp, bool kSmooth>
__global__ void __launch_bounds__(512)
    cross_entropy_backward(CrossEntropyRows c, const op_math_t<T>* log_sums, const op_math_t<T>* scales,
                           int64_t scale_stride, const op_math_t<T>* total_weight, T* out) {
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  constexpr int U = W > 1 ? 2 : 4;
  const int64_t row = Group::row(), n = c.classes;
  if (row >= c.rows) return;
  const int64_t target = c.targets[row];
  const T* in = static_cast<const T*>(c.logits) + row * n;
  const A* w = static_cast<const A*>(c.weight);
  out += row * n;
  const int64_t stride = int64_t{Group::count()} * W;
  if (target == c.ignore_index || target < 0 || target >= n) {
    Vec<T, W> zero{};
    for (int64_t i = int64_t{Group::rank()} * W; i < n; i += stride) *reinterpret_cast<Vec<T, W>*>(out + i) = zero;
    return;
  }
  const A smoothing = static_cast<A>(c.smoothing), uniform = smoothing / static_cast<A>(n);
  A total = static_cast<A>(n);
  if constexpr (kSmooth) {
    if (w) {
      total = 0;
      for (int64_t i = Group::rank(); i < n; i += Group::count()) total += w[i];
      total = Group::reduce(total, Add(), A(0));
    }
  }
  const A given = scales[row * scale_stride], scale = total_weight ? given / *total_weight : given;
  const A one = (1 - smoothing) * (w ? w[target] : A(1)), picked = scale * one;
  const A factor = scale * (kSmooth ? one + uniform * total : one), log_sum = log_sums[row];
  for (int64_t i = int64_t{Group::rank()} * W; i < n; i += U * stride) {
    Vec<T, W> v[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u * stride < n) v[u] = *reinterpret_cast<const Vec<T, W>*>(in + i + u * stride);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int64_t at = i + u * stride;
      if (at >= n) break;
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const A d = convert<A>(v[u][k]) - log_sum;
        // Where the result is rounded to fewer bits, the faster form is as good.
        A g = factor * (sizeof(T) < sizeof(A) ? exp_term(d) : math::exp(d));
        if constexpr (kSmooth) g -= scale * uniform * (w ? w[at + k] : A(1));
        if (at + k == target) g -= picked;
        v[u][k] = convert<T>(g);
      }
      *reinterpret_cast<Vec<T, W>*>(out + at) = v[u];
    }
  }
}

// Of all rows: (1 - smoothing) w[t] + smoothing / C sum_c w[c], 0 if ignored.  Every block adds the weights up.
template <class A>
__global__ void cross_entropy_softmax_factors(CrossEntropyRows c, A* factors) {
  const A smoothing = static_cast<A>(c.smoothing);
  const A* w = static_cast<const A*>(c.weight);
  A total = static_cast<A>(c.classes);
  if (w) {
    total = 0;
    for (int64_t i = threadIdx.x; i < c.classes; i += blockDim.x) total += w[i];
    total = block_reduce(total, Add(), A(0));
  }
  const A rest = smoothing / static_cast<A>(c.classes) * total;
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= c.rows) return;
  const int64_t t = c.targets[row];
  const bool counts = t != c.ignore_index && t >= 0 && t < c.classes;
  factors[row] = counts ? (1 - smoothing) * (w ? w[t] : A(1)) + rest : A(0);
}

}  // namespace argand
