// softmax and log_softmax of contiguous rows, and of columns; float16 and bfloat16 compute in float.
#pragma once
#include "argand/kernels/cuda/row_threads.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// One row per group of threads, kept in registers: n <= count() * W * kItems.
template <class T, int W, int kItems, bool kOneWarp, bool kLog>
__global__ void __launch_bounds__(kOneWarp ? 256 : 1024) softmax_rows(const T* in, T* out, int64_t rows, int64_t n) {
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  const int64_t row = Group::row();
  if (row >= rows) return;
  in += row * n;
  out += row * n;
  A x[kItems][W];
  A top = -math::detail::kInfinity<A>;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t at = (int64_t{i} * Group::count() + Group::rank()) * W;
    const Vec<T, W> v = load<W>(in, at, n);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      x[i][k] = at + k < n ? convert<A>(v[k]) : -math::detail::kInfinity<A>;
      top = math::max(top, x[i][k]);
    }
  }
  top = Group::reduce(top, Max(), -math::detail::kInfinity<A>);
  A sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const int64_t at = (int64_t{i} * Group::count() + Group::rank()) * W + k;
      const A e = at < n ? math::exp(x[i][k] - top) : A(0);
      if (!kLog) x[i][k] = e;
      sum += e;
    }
  sum = Group::reduce(sum, Add(), A(0));
  const A shift = kLog ? top + math::log(sum) : A(0), scale = kLog ? A(1) : A(1) / sum;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t at = (int64_t{i} * Group::count() + Group::rank()) * W;
    Vec<T, W> v;
#pragma unroll
    for (int k = 0; k < W; ++k) v[k] = convert<T>(kLog ? x[i][k] - shift : x[i][k] * scale);
    if (at < n) store(out, at, n, v);
  }
}

// Rows too long for registers: the row is read three times.
template <class T, bool kLog>
__global__ void __launch_bounds__(1024) softmax_long_rows(const T* in, T* out, int64_t n) {
  using A = op_math_t<T>;
  in += int64_t{blockIdx.x} * n;
  out += int64_t{blockIdx.x} * n;
  A top = -math::detail::kInfinity<A>;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) top = math::max(top, convert<A>(in[i]));
  top = block_reduce(top, Max(), -math::detail::kInfinity<A>);
  A sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += math::exp(convert<A>(in[i]) - top);
  sum = block_reduce(sum, Add(), A(0));
  const A shift = kLog ? top + math::log(sum) : A(0), scale = kLog ? A(1) : A(1) / sum;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const A x = convert<A>(in[i]);
    out[i] = convert<T>(kLog ? x - shift : math::exp(x - top) * scale);
  }
}

// One thread per column of [outer, n, inner]; neighbouring threads read neighbouring elements.
template <class T, bool kLog>
__global__ void softmax_columns(const T* in, T* out, int64_t outer, int64_t n, int64_t inner) {
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

// grad_in = y (g - sum(g y)), or g - e^y sum(g) for the logarithm; the row is read twice, the second time from cache.
template <class T, bool kOneWarp, bool kLog>
__global__ void softmax_backward_rows(const T* grad, const T* result, T* out, int64_t rows, int64_t n) {
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  const int64_t row = Group::row();
  if (row >= rows) return;
  A sum = 0;
  for (int64_t i = Group::rank(); i < n; i += Group::count()) {
    const A g = convert<A>(grad[row * n + i]);
    sum += kLog ? g : g * convert<A>(result[row * n + i]);
  }
  sum = Group::reduce(sum, Add(), A(0));
  for (int64_t i = Group::rank(); i < n; i += Group::count()) {
    const A g = convert<A>(grad[row * n + i]), y = convert<A>(result[row * n + i]);
    out[row * n + i] = convert<T>(kLog ? g - math::exp(y) * sum : y * (g - sum));
  }
}

template <class T, bool kLog>
__global__ void softmax_backward_columns(const T* grad, const T* result, T* out, int64_t outer, int64_t n,
                                         int64_t inner) {
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
    out[base + i * inner] = convert<T>(kLog ? g - math::exp(y) * sum : y * (g - sum));
  }
}

}  // namespace argand
