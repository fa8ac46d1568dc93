// Reductions of strided tensors: by rows, whose threads share a result and read along it, and by columns, whose threads
// read neighbouring results.  The order of combining follows from the shape only.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/index.cuh"
#include "argand/kernels/cuda/reduce_ops.cuh"
#include "argand/kernels/cuda/reduce_shape.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// ---- from an index to an offset in memory; I is unsigned where all offsets fit 31 bits, else 64 bits wide

template <class I>
struct OffsetOf {
  using type = int64_t;
};
template <>
struct OffsetOf<unsigned> {
  using type = int;
};

template <class I>
__device__ __forceinline__ I split_by(I& n, const IndexWalk::Dim& d) {
  if constexpr (sizeof(I) == 4) {
    return split(n, d.by_size);
  } else {
    const I q = n / static_cast<I>(d.size);
    n -= q * static_cast<I>(d.size);
    return q;
  }
}

template <class I>
struct Offsets {
  typename OffsetOf<I>::type in, out;
};
template <class I>
__device__ __forceinline__ Offsets<I> offsets(const IndexWalk& walk, I index) {
  using Offset = typename OffsetOf<I>::type;
  Offsets<I> at{0, 0};
#pragma unroll 1
  for (int d = walk.ndim - 1; d > 0; --d) {
    const I outer = split_by(index, walk.dims[d]);
    at.in += static_cast<Offset>(index) * static_cast<Offset>(walk.dims[d].stride);
    at.out += static_cast<Offset>(index) * static_cast<Offset>(walk.dims[d].out_stride);
    index = outer;
  }
  at.in += static_cast<Offset>(index) * static_cast<Offset>(walk.dims[0].stride);
  at.out += static_cast<Offset>(index) * static_cast<Offset>(walk.dims[0].out_stride);
  return at;
}

// ---- where results go

template <class A>
struct StorePartial {
  A* out;
  __device__ __forceinline__ void operator()(int64_t at, A x) const { out[at] = x; }
};

// A power needs more code than all other finishes, so it has an instance of its own.
template <class A, class T, bool kPower = false>
struct StoreFinished {
  T* out;
  FinishArguments finish;
  __device__ __forceinline__ void operator()(int64_t at, A x) const {
    if constexpr (kPower) {
      x = math::pow(x, static_cast<A>(finish.number));
    } else if constexpr (math::detail::Floating<A>) {
      if (finish.kind & FinishArguments::kDivide) x = x / static_cast<A>(finish.number);
      if (finish.kind & FinishArguments::kSqrt) x = math::sqrt(x);
      if (finish.kind & FinishArguments::kLogPlusCenter) x = math::log(x) + static_cast<const A*>(finish.center)[at];
      if (finish.kind & FinishArguments::kZeroIfInfinite) x = math::isinf(x) ? A(0) : x;
    }
    out[at] = convert<T>(x);
  }
};

// The index, and the element where `values` is not null.
template <class A, class T>
struct StoreExtreme {
  int64_t* indices;
  T* values;
  __device__ __forceinline__ void operator()(int64_t at, Extreme<A> x) const {
    indices[at] = x.index;
    if (values) values[at] = convert<T>(x.value);
  }
};

// ---- the kernels

template <int W>
inline constexpr int kLoadsInFlight = W > 1 ? 4 : 8;

// The results of `n` values as a tree.
template <class Op, int n, class A>
__device__ __forceinline__ A combine_tree(A (&x)[n]) {
#pragma unroll
  for (int half = n / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) x[i] = Op::combine(x[i], x[i + half]);
  return x[0];
}

template <class Op>
__device__ __forceinline__ typename Op::Value center_of(const void* centers, int64_t at) {
  if constexpr (Op::kCentered)
    return static_cast<const typename Op::Value*>(centers)[at];
  else
    return typename Op::Value{};
}

// The lanes' values, combined; the first lane has the result.
template <class Op, class A>
__device__ __forceinline__ A reduce_lanes(A x, int lanes) {
  for (int step = (lanes < kWarp ? lanes : kWarp) / 2; step > 0; step /= 2) x = Op::combine(x, shuffle_xor(x, step));
  if (lanes <= kWarp) return x;
  __shared__ A partial[kWarp];
  const int warp = threadIdx.x / kWarp;
  if (threadIdx.x % kWarp == 0) partial[warp] = x;
  __syncthreads();
  if (warp == 0) {
    x = threadIdx.x < blockDim.x / kWarp ? partial[threadIdx.x] : Op::identity();
    for (int step = kWarp / 2; step > 0; step /= 2) x = Op::combine(x, shuffle_xor(x, step));
  }
  return x;
}

template <class T, class Op, int W, class I, class Store>
__global__ void __launch_bounds__(1024)
    reduce_rows(const T* in, Store store, const void* centers, double parameter, RowReduction s) {
  await_earlier_work();
  using A = typename Op::Acc;
  constexpr int U = kLoadsInFlight<W>;
  Op op;
  op.parameter = parameter;
  const I lanes = static_cast<I>(s.lanes), lane = threadIdx.x & (s.lanes - 1);
  const int64_t unit = int64_t{blockIdx.x} * (blockDim.x / static_cast<unsigned>(s.lanes)) +
                       threadIdx.x / static_cast<unsigned>(s.lanes);
  const bool live = unit < s.results * s.chunks;
  A sums[W];
#pragma unroll
  for (int k = 0; k < W; ++k) sums[k] = Op::identity();
  if (live) {
    const I result = s.chunks == 1 ? static_cast<I>(unit) : static_cast<I>(unit) / static_cast<I>(s.chunks);
    const I chunk = static_cast<I>(unit) - result * static_cast<I>(s.chunks);
    const Offsets<I> at = offsets(s.kept, result);
    const auto center = center_of<Op>(centers, at.out);
    const T* p = in + at.in;
    const I begin = chunk * static_cast<I>(s.step);
    const I end =
        begin + static_cast<I>(s.step) < static_cast<I>(s.n) ? begin + static_cast<I>(s.step) : static_cast<I>(s.n);
    I i = begin + lane;
    for (; i + (U - 1) * lanes < end; i += U * lanes) {
      Vec<T, W> v[U];
#pragma unroll
      for (int u = 0; u < U; ++u) v[u] = *reinterpret_cast<const Vec<T, W>*>(p + offsets(s.reduced, i + u * lanes).in);
#pragma unroll
      for (int k = 0; k < W; ++k) {
        A x[U];
#pragma unroll
        for (int u = 0; u < U; ++u) x[u] = mapped(op, v[u][k], center, static_cast<int64_t>(i + u * lanes) * W + k);
        sums[k] = Op::combine(sums[k], combine_tree<Op>(x));
      }
    }
    if (i < end) {  // fewer than U are left
      Vec<T, W> v[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (i + u * lanes < end) v[u] = *reinterpret_cast<const Vec<T, W>*>(p + offsets(s.reduced, i + u * lanes).in);
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (i + u * lanes < end)
#pragma unroll
          for (int k = 0; k < W; ++k)
            sums[k] = Op::combine(sums[k], mapped(op, v[u][k], center, static_cast<int64_t>(i + u * lanes) * W + k));
    }
  }
  const A sum = reduce_lanes<Op>(combine_tree<Op>(sums), s.lanes);
  // `unit` is also the index of the result: the kept dimensions of rows are in the order of the result.
  if (live && lane == 0) store(unit, sum);
}

template <class T, class Op, int W, class I, class Store>
__global__ void reduce_columns(const T* in, Store store, const void* centers, double parameter, ColumnReduction s) {
  await_earlier_work();
  using A = typename Op::Acc;
  constexpr int U = kLoadsInFlight<W>;
  Op op;
  op.parameter = parameter;
  const unsigned x = threadIdx.x & ((1u << s.log_x) - 1), y = threadIdx.x >> s.log_x & ((1u << s.log_y) - 1),
                 z = threadIdx.x >> (s.log_x + s.log_y);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(s.tiles), rest = blockIdx.x / static_cast<unsigned>(s.tiles);
  const unsigned group = rest % static_cast<unsigned>(s.line_groups);
  const I chunk = rest / static_cast<unsigned>(s.line_groups);
  const int64_t line = (int64_t{group} << s.log_z) + z;
  const int64_t column = ((int64_t{tile} << s.log_x) + x) * W;
  const bool live = line < s.num_lines && column < s.width;
  A sums[W];
#pragma unroll
  for (int k = 0; k < W; ++k) sums[k] = Op::identity();
  int64_t place = 0;
  if (live) {
    const Offsets<I> at = offsets(s.lines, static_cast<I>(line));
    place = at.out + column * s.out_stride;
    typename Op::Value center[W];
#pragma unroll
    for (int k = 0; k < W; ++k) center[k] = center_of<Op>(centers, place + k * s.out_stride);
    const T* p = in + at.in + column * s.stride;
    const I begin = chunk * static_cast<I>(s.step), rows = I{1} << s.log_y;
    const I end =
        begin + static_cast<I>(s.step) < static_cast<I>(s.n) ? begin + static_cast<I>(s.step) : static_cast<I>(s.n);
    I i = begin + y;
    for (; i + (U - 1) * rows < end; i += U * rows) {
      Vec<T, W> v[U];
#pragma unroll
      for (int u = 0; u < U; ++u) v[u] = *reinterpret_cast<const Vec<T, W>*>(p + offsets(s.reduced, i + u * rows).in);
#pragma unroll
      for (int k = 0; k < W; ++k) {
        A terms[U];
#pragma unroll
        for (int u = 0; u < U; ++u) terms[u] = mapped(op, v[u][k], center[k], static_cast<int64_t>(i + u * rows));
        sums[k] = Op::combine(sums[k], combine_tree<Op>(terms));
      }
    }
    if (i < end) {
      Vec<T, W> v[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (i + u * rows < end) v[u] = *reinterpret_cast<const Vec<T, W>*>(p + offsets(s.reduced, i + u * rows).in);
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (i + u * rows < end)
#pragma unroll
          for (int k = 0; k < W; ++k)
            sums[k] = Op::combine(sums[k], mapped(op, v[u][k], center[k], static_cast<int64_t>(i + u * rows)));
    }
  }
  if (s.log_y > 0) {
    __shared__ A partial[W][256];
#pragma unroll
    for (int k = 0; k < W; ++k) partial[k][threadIdx.x] = sums[k];
    for (unsigned half = 1u << (s.log_y - 1); half > 0; half /= 2) {
      __syncthreads();
      if (y < half)
#pragma unroll
        for (int k = 0; k < W; ++k)
          partial[k][threadIdx.x] = Op::combine(partial[k][threadIdx.x], partial[k][threadIdx.x + (half << s.log_x)]);
    }
#pragma unroll
    for (int k = 0; k < W; ++k) sums[k] = partial[k][threadIdx.x];
  }
  if (live && y == 0)
#pragma unroll
    for (int k = 0; k < W; ++k) store(static_cast<int64_t>(chunk) * s.results + place + k * s.out_stride, sums[k]);
}

}  // namespace argand
