// softmax and log_softmax of contiguous rows, and of columns; float16 and bfloat16 compute in float.
#pragma once
#include "argand/kernels/cuda/exp_sum.cuh"
#include "argand/kernels/cuda/row_vectors.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// One row per group of threads, kept in registers.
template <class T, int W, int kItems, bool kOneWarp, bool kLog>
__global__ void __launch_bounds__(kOneWarp ? 256 : 1024) softmax_rows(const T* in, T* out, int64_t rows, int n) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Row = RowVectors<T, W, kItems, kOneWarp>;
  const int64_t row = Row::Group::row();
  if (row >= rows) return;
  out += row * n;
  const Row v(in + row * n, n);
  A x[kItems][W];
  ExpSum<A> own;  // of this thread, relative to the warp's largest
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) {
      x[i][k] = Row::at(i) < n ? convert<A>(v[i][k]) : ExpSum<A>::kLow;
      own.top = Max()(own.top, x[i][k]);
    }
  own.top = warp_reduce(own.top, Max());
  const A base = own.base();
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A e = math::exp(x[i][k] - base);
      if (!kLog) x[i][k] = e;
      own.sum += e;
    }
  ExpSum<A> all = own;
  if constexpr (kOneWarp)
    all.sum = warp_reduce(own.sum, Add());
  else
    all = block_total(own);
  const A shift = kLog ? all.top + math::log(all.sum) : A(0);
  const A scale = kLog ? A(1) : kOneWarp ? A(1) / all.sum : math::exp(own.top - all.base()) / all.sum;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    Vec<T, W> y;
#pragma unroll
    for (int k = 0; k < W; ++k) y[k] = convert<T>(kLog ? x[i][k] - shift : x[i][k] * scale);
    Row::store(out, n, i, y);
  }
}

// Rows too long for registers: the row is read twice, the second time perhaps from cache.  n is a multiple of W.
template <class T, int W, bool kLog>
__global__ void __launch_bounds__(1024) softmax_long_rows(const T* in, T* out, int64_t n) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int U = 4;
  in += int64_t{blockIdx.x} * n;
  out += int64_t{blockIdx.x} * n;
  const int64_t step = int64_t{blockDim.x} * W;
  ExpSum<A> s;
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += U * step) {
    Vec<T, W> v[U];
    const int count = load_some<W>(v, in, at, step, n);
    s.add(v, count);
  }
  s = block_total(s);
  const A shift = kLog ? s.top + math::log(s.sum) : s.top, scale = kLog ? A(1) : A(1) / s.sum;
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += U * step) {
    Vec<T, W> v[U];
    const int count = load_some<W>(v, in, at, step, n);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const A x = convert<A>(v[u][k]) - shift;
        v[u][k] = convert<T>(kLog ? x : math::exp(x) * scale);
      }
    store_some(v, out, at, step, count);
  }
}

// One thread per column of [outer, n, inner]; neighbouring threads read neighbouring elements.
template <class T, bool kLog>
__global__ void softmax_columns(const T* in, T* out, int64_t outer, int64_t n, int64_t inner) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= outer * inner) return;
  const int64_t base = column / inner * n * inner + column % inner;
  A top = -math::detail::kInfinity<A>;
  for (int64_t i = 0; i < n; ++i) top = math::max(top, convert<A>(in[base + i * inner]));
  A sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += math::exp(convert<A>(in[base + i * inner]) - top);
  const A shift = kLog ? top + math::log(sum) : A(0), scale = kLog ? A(1) : A(1) / sum;
  for (int64_t i = 0; i < n; ++i) {
    const A x = convert<A>(in[base + i * inner]);
    out[base + i * inner] = convert<T>(kLog ? x - shift : math::exp(x - top) * scale);
  }
}

// grad_in = y (g - sum(g y)), or g - e^y sum(g) for the logarithm.
template <bool kLog, class A>
__device__ __forceinline__ A softmax_gradient(A g, A y, A sum) {
  return kLog ? g - math::exp(y) * sum : y * (g - sum);
}

// One row per group of threads, kept in registers.
template <class T, int W, int kItems, bool kOneWarp, bool kLog>
__global__ void __launch_bounds__(kOneWarp ? 256 : 1024)
    softmax_backward_rows(const T* grad, const T* result, T* out, int64_t rows, int n) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Row = RowVectors<T, W, kItems, kOneWarp>;
  const int64_t row = Row::Group::row();
  if (row >= rows) return;
  out += row * n;
  const Row g(grad + row * n, n), y(result + row * n, n);
  A sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) sum += kLog ? convert<A>(g[i][k]) : convert<A>(g[i][k]) * convert<A>(y[i][k]);
  sum = Row::Group::reduce(sum, Add(), A(0));
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    Vec<T, W> v;
#pragma unroll
    for (int k = 0; k < W; ++k)
      v[k] = convert<T>(softmax_gradient<kLog>(convert<A>(g[i][k]), convert<A>(y[i][k]), sum));
    Row::store(out, n, i, v);
  }
}

// Rows too long for registers: read twice.  n is a multiple of W.
template <class T, int W, bool kLog>
__global__ void __launch_bounds__(1024) softmax_backward_long_rows(const T* grad, const T* result, T* out, int64_t n) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int U = 2;
  grad += int64_t{blockIdx.x} * n;
  result += int64_t{blockIdx.x} * n;
  out += int64_t{blockIdx.x} * n;
  const int64_t step = int64_t{blockDim.x} * W;
  A sum = 0;
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += U * step) {
    Vec<T, W> g[U], y[U];
    const int count = load_some<W>(g, grad, at, step, n);
    if (!kLog) load_some<W>(y, result, at, step, n);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k)
        if (u < count) sum += kLog ? convert<A>(g[u][k]) : convert<A>(g[u][k]) * convert<A>(y[u][k]);
  }
  sum = block_reduce(sum, Add(), A(0));
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += U * step) {
    Vec<T, W> g[U], y[U];
    const int count = load_some<W>(g, grad, at, step, n);
    load_some<W>(y, result, at, step, n);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k)
        y[u][k] = convert<T>(softmax_gradient<kLog>(convert<A>(g[u][k]), convert<A>(y[u][k]), sum));
    store_some(y, out, at, step, count);
  }
}

template <class T, bool kLog>
__global__ void softmax_backward_columns(const T* grad, const T* result, T* out, int64_t outer, int64_t n,
                                         int64_t inner) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= outer * inner) return;
  const int64_t base = column / inner * n * inner + column % inner;
  A sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const A g = convert<A>(grad[base + i * inner]);
    sum += kLog ? g : g * convert<A>(result[base + i * inner]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const A g = convert<A>(grad[base + i * inner]), y = convert<A>(result[base + i * inner]);
    out[base + i * inner] = convert<T>(softmax_gradient<kLog>(g, y, sum));
  }
}

}  // namespace argand
