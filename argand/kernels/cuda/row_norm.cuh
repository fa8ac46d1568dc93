// Layer, group and RMS normalisation of contiguous rows (kernels/cpu/row_norm.h says what is what).
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/row_vectors.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Where the weights of a row begin.  kColumns below: there is one for each of its elements (inner is 1).
template <class A>
__device__ __forceinline__ int64_t first_weight(const RowWeights<A>& w, int64_t row) {
  return row % w.groups * w.channels;
}

// Reads through the cache for constant data: this load may be reordered before earlier stores.
template <int W>
__device__ __forceinline__ Vec<float, W> load_constant(const float* p) {
  static_assert(W == 4);
  const float4 v = ::__ldg(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
template <int W>
__device__ __forceinline__ Vec<double, W> load_constant(const double* p) {
  static_assert(W == 2);
  const double2 v = ::__ldg(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

// W numbers at `at`, which is a multiple of W; each a weight of an element, or `other` where there are none.
template <int W, bool kColumns, class A>
__device__ __forceinline__ Vec<A, W> weights_at(const A* p, int64_t at, int64_t n, int64_t inner, A other) {
  Vec<A, W> v;
#pragma unroll
  for (int k = 0; k < W; ++k) v[k] = other;
  if (!p) return v;
  if constexpr (kColumns && W * sizeof(A) >= 16) {
    constexpr int kStep = 16 / sizeof(A);
    if (at + W > n) return v;
#pragma unroll
    for (int k = 0; k < W; k += kStep) {
      const Vec<A, kStep> part = load_constant<kStep>(p + at + k);
#pragma unroll
      for (int j = 0; j < kStep; ++j) v[k + j] = part[j];
    }
  } else {
#pragma unroll
    for (int k = 0; k < W; ++k)
      if (at + k < n) v[k] = kColumns ? p[at + k] : p[(at + k) / inner];
  }
  return v;
}

// ((x - mean) * rstd) * weight + bias by columns; (x - mean) * (rstd * weight) + bias by channels.
template <bool kColumns, class A>
__device__ __forceinline__ A normalized(A x, A mean, A rstd, A weight, A bias) {
  return kColumns ? ((x - mean) * rstd) * weight + bias : (x - mean) * (rstd * weight) + bias;
}

// One row per group of threads, kept in registers.
template <class T, int W, int kItems, bool kOneWarp, bool kColumns>
__global__ void __launch_bounds__(kOneWarp ? 256 : 1024)
    norm_rows(const T* x, T* y, op_math_t<T>* means, op_math_t<T>* rstds, int64_t rows, int n, bool centered,
              double eps, RowWeights<op_math_t<T>> w) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Row = RowVectors<T, W, kItems, kOneWarp>;
  using Group = typename Row::Group;
  const int64_t row = Group::row();
  if (row >= rows) return;
  y += row * n;
  const Row in(x + row * n, n);
  A sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) sum += convert<A>(in[i][k]);
  const A count = static_cast<A>(n), mean = centered ? Group::reduce(sum, Add(), A(0)) / count : A(0);
  A squares = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i)
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A d = Row::at(i) < n ? convert<A>(in[i][k]) - mean : A(0);
      squares += d * d;
    }
  squares = Group::reduce(squares, Add(), A(0));
  const A rstd = A(1) / math::sqrt(squares / count + static_cast<A>(eps));
  if (Group::rank() == 0) {
    if (centered) means[row] = mean;
    rstds[row] = rstd;
  }
  const int64_t first = first_weight(w, row);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = Row::at(i);
    const Vec<A, W> weight = weights_at<W, kColumns>(w.weight ? w.weight + first : nullptr, at, n, w.inner, A(1));
    const Vec<A, W> bias = weights_at<W, kColumns>(w.bias ? w.bias + first : nullptr, at, n, w.inner, A(0));
    Vec<T, W> out;
#pragma unroll
    for (int k = 0; k < W; ++k)
      out[k] = convert<T>(normalized<kColumns>(convert<A>(in[i][k]), mean, rstd, weight[k], bias[k]));
    Row::store(y, n, i, out);
  }
}

// Rows too long for registers: a block a row, which is read three times.
template <class T, int W, bool kColumns>
__global__ void __launch_bounds__(1024)
    norm_long_rows(const T* x, T* y, op_math_t<T>* means, op_math_t<T>* rstds, int64_t rows, int64_t n, bool centered,
                   double eps, RowWeights<op_math_t<T>> w) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t row = blockIdx.x, step = int64_t{blockDim.x} * W;
  x += row * n;
  y += row * n;
  const A count = static_cast<A>(n);
  A mean = 0;
  if (centered) {
    A sum = 0;
#pragma unroll 4
    for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += step) {
      const Vec<T, W> in = load<W>(x, at, n);
#pragma unroll
      for (int k = 0; k < W; ++k) sum += convert<A>(in[k]);
    }
    mean = block_reduce(sum, Add(), A(0)) / count;
  }
  A squares = 0;
#pragma unroll 4
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += step) {
    const Vec<T, W> in = load<W>(x, at, n);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A d = at + k < n ? convert<A>(in[k]) - mean : A(0);
      squares += d * d;
    }
  }
  squares = block_reduce(squares, Add(), A(0));
  const A rstd = A(1) / math::sqrt(squares / count + static_cast<A>(eps));
  if (threadIdx.x == 0) {
    if (centered) means[row] = mean;
    rstds[row] = rstd;
  }
  const int64_t first = first_weight(w, row);
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += step) {
    const Vec<T, W> in = load<W>(x, at, n);
    const Vec<A, W> weight = weights_at<W, kColumns>(w.weight ? w.weight + first : nullptr, at, n, w.inner, A(1));
    const Vec<A, W> bias = weights_at<W, kColumns>(w.bias ? w.bias + first : nullptr, at, n, w.inner, A(0));
    Vec<T, W> out;
#pragma unroll
    for (int k = 0; k < W; ++k)
      out[k] = convert<T>(normalized<kColumns>(convert<A>(in[k]), mean, rstd, weight[k], bias[k]));
    store(y, at, n, out);
  }
}

// ---- backward
//
// grad_x = g * weight * rstd + (x - mean) * slope + shift, slope and shift from the row's sums of h = g * weight and of
// h * (x - mean).

template <class A>
struct RowSlopes {
  A slope, shift;
  __device__ __forceinline__ RowSlopes(A sum, A product, A rstd, int64_t n, bool centered)
      : slope(-(rstd * rstd * rstd) * (product / static_cast<A>(n))),
        shift(centered ? -rstd * (sum / static_cast<A>(n)) : A(0)) {}
};

template <class T, int W, int kItems, bool kOneWarp, bool kColumns>
__global__ void __launch_bounds__(kOneWarp ? 256 : 1024)
    norm_backward_rows(const T* g, const T* x, const op_math_t<T>* means, const op_math_t<T>* rstds, T* grad,
                       int64_t rows, int n, bool centered, RowWeights<op_math_t<T>> w) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Row = RowVectors<T, W, kItems, kOneWarp>;
  using Group = typename Row::Group;
  const int64_t row = Group::row();
  if (row >= rows) return;
  grad += row * n;
  const Row gs(g + row * n, n), xs(x + row * n, n);  // g is 0 beyond the row
  const A mean = centered ? means[row] : A(0), rstd = rstds[row];
  const A* weights = w.weight ? w.weight + first_weight(w, row) : nullptr;
  A h[kItems][W], d[kItems][W];
  A sum = 0, product = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const Vec<A, W> weight = weights_at<W, kColumns>(weights, Row::at(i), n, w.inner, A(1));
#pragma unroll
    for (int k = 0; k < W; ++k) {
      h[i][k] = convert<A>(gs[i][k]) * weight[k];
      d[i][k] = convert<A>(xs[i][k]) - mean;
      sum += h[i][k];
      product += h[i][k] * d[i][k];
    }
  }
  sum = Group::reduce(sum, Add(), A(0));
  product = Group::reduce(product, Add(), A(0));
  const RowSlopes<A> s(sum, product, rstd, n, centered);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    Vec<T, W> out;
#pragma unroll
    for (int k = 0; k < W; ++k) out[k] = convert<T>(h[i][k] * rstd + d[i][k] * s.slope + s.shift);
    Row::store(grad, n, i, out);
  }
}

template <class T, int W, bool kColumns>
__global__ void __launch_bounds__(1024)
    norm_backward_long_rows(const T* g, const T* x, const op_math_t<T>* means, const op_math_t<T>* rstds, T* grad,
                            int64_t rows, int64_t n, bool centered, RowWeights<op_math_t<T>> w) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t row = blockIdx.x, step = int64_t{blockDim.x} * W;
  g += row * n;
  x += row * n;
  grad += row * n;
  const A mean = centered ? means[row] : A(0), rstd = rstds[row];
  const A* weights = w.weight ? w.weight + first_weight(w, row) : nullptr;
  A sum = 0, product = 0;
#pragma unroll 2
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += step) {
    const Vec<T, W> gs = load<W>(g, at, n), xs = load<W>(x, at, n);
    const Vec<A, W> weight = weights_at<W, kColumns>(weights, at, n, w.inner, A(1));
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A h = convert<A>(gs[k]) * weight[k];
      sum += h;
      product += h * (convert<A>(xs[k]) - mean);
    }
  }
  sum = block_reduce(sum, Add(), A(0));
  product = block_reduce(product, Add(), A(0));
  const RowSlopes<A> s(sum, product, rstd, n, centered);
  for (int64_t at = int64_t{threadIdx.x} * W; at < n; at += step) {
    const Vec<T, W> gs = load<W>(g, at, n), xs = load<W>(x, at, n);
    const Vec<A, W> weight = weights_at<W, kColumns>(weights, at, n, w.inner, A(1));
    Vec<T, W> out;
#pragma unroll
    for (int k = 0; k < W; ++k)
      out[k] = convert<T>(convert<A>(gs[k]) * weight[k] * rstd + (convert<A>(xs[k]) - mean) * s.slope + s.shift);
    store(grad, at, n, out);
  }
}

}  // namespace argand
