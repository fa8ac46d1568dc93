// First stages of sums and moments per channel of a contiguous [n, channels, inner] tensor: parts, which
// column_sums.cuh joins.  A plane is the `inner` elements of one channel of one sample.
#pragma once
#include "argand/kernels/cuda/row_threads.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Center and scale of x in sums of g * (x - center) * scale: numbers [(place / step) % count]; scale may be null, and
// center too (0).
template <class A>
struct CenterTerms {
  const A *center, *scale;
  int64_t step, count;
  __device__ __forceinline__ int64_t at(int64_t place) const { return place / step % count; }
  __device__ __forceinline__ A center_at(int64_t place) const { return center ? center[at(place)] : A(0); }
  __device__ __forceinline__ A scale_at(int64_t place) const { return scale ? scale[at(place)] : A(1); }
};

// Of each plane: the sums of g and of g * (x - center) * scale.
template <class T, int W, bool kOneWarp>
__global__ void plane_products(const T* g, const T* x, CenterTerms<op_math_t<T>> terms, int64_t planes, int64_t inner,
                               op_math_t<T>* sums, op_math_t<T>* products) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  const int64_t plane = Group::row();
  if (plane >= planes) return;
  g += plane * inner;
  x += plane * inner;
  const A center = terms.center_at(plane);
  A sum = 0, product = 0;
#pragma unroll 4
  for (int64_t at = int64_t{Group::rank()} * W; at < inner; at += int64_t{Group::count()} * W) {
    const Vec<T, W> gs = load<W>(g, at, inner), xs = load<W>(x, at, inner);  // g is 0 beyond
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A v = convert<A>(gs[k]);
      sum += v;
      product += v * (convert<A>(xs[k]) - center);
    }
  }
  sum = Group::reduce(sum, Add(), A(0));
  product = Group::reduce(product, Add(), A(0));
  if (Group::rank() != 0) return;
  sums[plane] = sum;
  products[plane] = product * terms.scale_at(plane);
}

// Of each plane: its mean, and the sum of squared distances from it.  The plane is read twice, the second time from
// cache.
template <class T, int W, bool kOneWarp>
__global__ void plane_moments(const T* x, int64_t planes, int64_t inner, op_math_t<T>* means, op_math_t<T>* squares) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  const int64_t plane = Group::row(), step = int64_t{Group::count()} * W;
  if (plane >= planes) return;
  x += plane * inner;
  A sum = 0;
#pragma unroll 4
  for (int64_t at = int64_t{Group::rank()} * W; at < inner; at += step) {
    const Vec<T, W> xs = load<W>(x, at, inner);
#pragma unroll
    for (int k = 0; k < W; ++k) sum += convert<A>(xs[k]);
  }
  const A mean = Group::reduce(sum, Add(), A(0)) / static_cast<A>(inner);
  A square = 0;
#pragma unroll 4
  for (int64_t at = int64_t{Group::rank()} * W; at < inner; at += step) {
    const Vec<T, W> xs = load<W>(x, at, inner);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const A d = at + k < inner ? convert<A>(xs[k]) - mean : A(0);
      square += d * d;
    }
  }
  square = Group::reduce(square, Add(), A(0));
  if (Group::rank() != 0) return;
  means[plane] = mean;
  squares[plane] = square;
}

// ---- inner == 1: a thread for W columns, over the rows of a part (blockIdx.y) of [n, width]

// The place of element (i, j) is i * width + j, so that terms of rows can be told (kOfRows: they are the same for the W
// columns, and each row has others) as well as terms of columns, which are the same for all rows.
template <class T, int W, bool kOfRows>
__global__ void __launch_bounds__(128)
    column_products(const T* g, const T* x, CenterTerms<op_math_t<T>> terms, int64_t n, int64_t width, int64_t rows,
                    op_math_t<T>* sums, op_math_t<T>* products) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t j = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * W;
  if (j >= width) return;
  const int64_t begin = int64_t{blockIdx.y} * rows, end = begin + rows < n ? begin + rows : n;
  A center[W], scale[W];
  int64_t first = 0, each = 0;  // the terms of row i are those at first + i * each
  if constexpr (kOfRows) {
    first = terms.at(j);
    each = width / terms.step;
  } else {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      center[k] = terms.center_at(j + k);
      scale[k] = terms.scale_at(j + k);
    }
  }
  Vec<A, W> sum{}, product{};
#pragma unroll 4
  for (int64_t i = begin; i < end; ++i) {
    const auto gs = *reinterpret_cast<const Vec<T, W>*>(g + i * width + j);
    const auto xs = *reinterpret_cast<const Vec<T, W>*>(x + i * width + j);
    if constexpr (kOfRows) {
      center[0] = terms.center ? terms.center[first + i * each] : A(0);
      scale[0] = terms.scale ? terms.scale[first + i * each] : A(1);
    }
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const int of = kOfRows ? 0 : k;
      const A v = convert<A>(gs[k]);
      sum[k] += v;
      product[k] += v * ((convert<A>(xs[k]) - center[of]) * scale[of]);
    }
  }
#pragma unroll
  for (int k = 0; k < W; ++k) {
    sums[int64_t{blockIdx.y} * width + j + k] = sum[k];
    products[int64_t{blockIdx.y} * width + j + k] = product[k];
  }
}

// Distances are taken from the part's first element, so that nothing cancels where the mean is far from 0.
template <class T>
__global__ void column_moments(const T* x, int64_t n, int64_t width, int64_t rows, op_math_t<T>* means,
                               op_math_t<T>* squares) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t j = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j >= width) return;
  const int64_t begin = int64_t{blockIdx.y} * rows, end = begin + rows < n ? begin + rows : n;
  const A base = convert<A>(x[begin * width + j]);
  A sum = 0, square = 0;
#pragma unroll 4
  for (int64_t i = begin; i < end; ++i) {
    const A d = convert<A>(x[i * width + j]) - base;
    sum += d;
    square += d * d;
  }
  const A count = static_cast<A>(end - begin);
  means[int64_t{blockIdx.y} * width + j] = base + sum / count;
  const A rest = square - sum * (sum / count);
  squares[int64_t{blockIdx.y} * width + j] = rest < A(0) ? A(0) : rest;
}

}  // namespace argand
