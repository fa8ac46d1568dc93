// First stages of sums and moments per channel of a contiguous [n, channels, inner] tensor: parts, which
// column_sums.cuh combines.  A plane is the `inner` elements of one channel of one sample.
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

// The sums of g and of g * (x - center) * scale of each plane.
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

// The mean of each plane, and the sum of squared distances from it.  The plane is read twice, the second time from
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

// ---- inner == 1: a thread for W columns, over rows of a part (blockIdx.y) of [n, width]

// The columns and rows of a thread, in a block that reads `at_once` rows together: columns [j, j + W) of every
// at_once-th row from `begin` on, to `end`.  Blocks that read several rows have all columns, `lanes` threads a row.
template <int W>
struct ColumnLane {
  int64_t j, begin, end;
  int rank;  // of the row among those read together
  bool works;
  __device__ __forceinline__ ColumnLane(int64_t n, int64_t width, int64_t rows, int lanes, int at_once) {
    rank = int(threadIdx.x) / lanes;
    j = (int64_t{blockIdx.x} * lanes + int(threadIdx.x) % lanes) * W;
    begin = int64_t{blockIdx.y} * rows + rank;
    end = int64_t{blockIdx.y} * rows + rows < n ? int64_t{blockIdx.y} * rows + rows : n;
    works = rank < at_once && j < width;
  }
};

inline constexpr int kColumnThreads = 128;  // at most

// The sums of the threads of one column, in the order of their rows; for those of rank 0.
template <class A, int W>
__device__ __forceinline__ void join_rows(Vec<A, W>& a, Vec<A, W>& b, int lanes, int at_once, bool is_first) {
  if (at_once == 1) return;
  __shared__ Vec<A, W> all[2][kColumnThreads];
  all[0][threadIdx.x] = a;
  all[1][threadIdx.x] = b;
  __syncthreads();
  if (!is_first) return;
  for (int i = 1; i < at_once; ++i) {
    const Vec<A, W> more[] = {all[0][threadIdx.x + i * lanes], all[1][threadIdx.x + i * lanes]};
#pragma unroll
    for (int k = 0; k < W; ++k) {
      a[k] += more[0][k];
      b[k] += more[1][k];
    }
  }
}

// The place of element (i, j) is i * width + j, so that terms can belong to rows (kOfRows: the same for the W columns,
// different for each row) or to columns (the same for all rows).
template <class T, int W, bool kOfRows>
__global__ void __launch_bounds__(kColumnThreads)
    column_products(const T* g, const T* x, CenterTerms<op_math_t<T>> terms, int64_t n, int64_t width, int64_t rows,
                    int lanes, int at_once, op_math_t<T>* sums, op_math_t<T>* products) {
  await_earlier_work();
  using A = op_math_t<T>;
  const ColumnLane<W> lane(n, width, rows, lanes, at_once);
  const int64_t j = lane.j;
  Vec<A, W> sum{}, product{};
  if (lane.works) {
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
#pragma unroll 4
    for (int64_t i = lane.begin; i < lane.end; i += at_once) {
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
  }
  const bool is_first = lane.works && lane.rank == 0;
  join_rows(sum, product, lanes, at_once, is_first);
  if (!is_first) return;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    sums[int64_t{blockIdx.y} * width + j + k] = sum[k];
    products[int64_t{blockIdx.y} * width + j + k] = product[k];
  }
}

// Distances are relative to the part's first element, so that nothing cancels if the mean is far from 0.
template <class T, int W>
__global__ void __launch_bounds__(kColumnThreads)
    column_moments(const T* x, int64_t n, int64_t width, int64_t rows, int lanes, int at_once, op_math_t<T>* means,
                   op_math_t<T>* squares) {
  await_earlier_work();
  using A = op_math_t<T>;
  const ColumnLane<W> lane(n, width, rows, lanes, at_once);
  const int64_t j = lane.j, first = int64_t{blockIdx.y} * rows;
  Vec<A, W> base{}, sum{}, square{};
  if (lane.works) {
    const auto from = *reinterpret_cast<const Vec<T, W>*>(x + first * width + j);
#pragma unroll
    for (int k = 0; k < W; ++k) base[k] = convert<A>(from[k]);
#pragma unroll 4
    for (int64_t i = lane.begin; i < lane.end; i += at_once) {
      const auto xs = *reinterpret_cast<const Vec<T, W>*>(x + i * width + j);
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const A d = convert<A>(xs[k]) - base[k];
        sum[k] += d;
        square[k] += d * d;
      }
    }
  }
  const bool is_first = lane.works && lane.rank == 0;
  join_rows(sum, square, lanes, at_once, is_first);
  if (!is_first) return;
  const A count = static_cast<A>(lane.end - first);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    means[int64_t{blockIdx.y} * width + j + k] = base[k] + sum[k] / count;
    const A rest = square[k] - sum[k] * (sum[k] / count);
    squares[int64_t{blockIdx.y} * width + j + k] = rest < A(0) ? A(0) : rest;
  }
}

}  // namespace argand
