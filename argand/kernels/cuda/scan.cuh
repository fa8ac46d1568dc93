// Running results along the middle dimension of contiguous [outer, n, inner] tensors: of rows (inner is 1) by a block
// each, of columns by a thread each.  Long lines are cut into chunks, which start from the values in `before`.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/reduce_ops.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class A, class T>
struct StoreScan {
  T* out;
  template <int W>
  __device__ __forceinline__ void operator()(int64_t at, const A (&x)[W]) const {
    Vec<T, W> v;
#pragma unroll
    for (int k = 0; k < W; ++k) v[k] = convert<T>(x[k]);
    *reinterpret_cast<Vec<T, W>*>(out + at) = v;
  }
};
template <class A, class T>
struct StoreRunningExtreme {
  T* values;
  int64_t* indices;
  template <int W>
  __device__ __forceinline__ void operator()(int64_t at, const Extreme<A> (&x)[W]) const {
    Vec<T, W> v;
#pragma unroll
    for (int k = 0; k < W; ++k) v[k] = convert<T>(x[k].value);
    *reinterpret_cast<Vec<T, W>*>(values + at) = v;
    constexpr int kPair = W > 1 ? 2 : 1;
#pragma unroll
    for (int k = 0; k < W; k += kPair) {
      Vec<int64_t, kPair> pair;
#pragma unroll
      for (int i = 0; i < kPair; ++i) pair[i] = x[k + i].index;
      *reinterpret_cast<Vec<int64_t, kPair>*>(indices + at + k) = pair;
    }
  }
};

// Block b processes chunk b % chunks of row b / chunks from its first element to its last, a tile at a time.  A warp
// takes kItems runs of 32 vectors of a tile.  `before`: null, or the results at the ends of all chunks, [rows, chunks].
// n, step and all addresses are multiples of W elements.
template <class T, class Op, int W, class Store>
__global__ void __launch_bounds__(256)
    scan_rows(const T* in, Store store, const typename Op::Acc* before, int64_t n, int64_t step, int64_t chunks) {
  await_earlier_work();
  using A = typename Op::Acc;
  constexpr int kItems = 4, kWarpTile = kItems * kWarp * W;
  __shared__ A totals[2][kWarp];
  const Op op{};
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const int64_t row = blockIdx.x / static_cast<unsigned>(chunks), chunk = blockIdx.x % static_cast<unsigned>(chunks);
  const int64_t end = (chunk + 1) * step < n ? (chunk + 1) * step : n;
  A carry = before && chunk > 0 ? before[row * chunks + chunk - 1] : Op::identity();
  in += row * n;
  int64_t at = chunk * step + warp * kWarpTile + lane * W;  // of this thread's first vector
  Vec<T, W> next[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (at + j * kWarp * W < end) next[j] = *reinterpret_cast<const Vec<T, W>*>(in + at + j * kWarp * W);
  int buffer = 0;
  for (int64_t tile = chunk * step; tile < end; tile += warps * kWarpTile, at += warps * kWarpTile) {
    A x[kItems][W], until[kItems];  // of each vector; of the lanes up to this one
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int64_t first = at + j * kWarp * W;
#pragma unroll
      for (int k = 0; k < W; ++k) {
        x[j][k] = first < end ? mapped(op, next[j][k], typename Op::Value{}, first + k) : Op::identity();
        if (k > 0) x[j][k] = Op::combine(x[j][k - 1], x[j][k]);
      }
      until[j] = x[j][W - 1];
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j) {  // what comes next travels while this is worked on
      const int64_t first = at + (warps * kItems + j) * kWarp * W;
      if (first < end) next[j] = *reinterpret_cast<const Vec<T, W>*>(in + first);
    }
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2)
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const A earlier = shuffle_up(until[j], distance);
        if (lane >= distance) until[j] = Op::combine(earlier, until[j]);
      }
    A total = shuffle_from(until[0], kWarp - 1);
    A prefix[kItems];  // within the warp's part, of all before the vector
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const A earlier = shuffle_up(until[j], 1);
      prefix[j] = lane > 0 ? earlier : Op::identity();
      if (j == 0) continue;
      prefix[j] = Op::combine(total, prefix[j]);
      total = Op::combine(total, shuffle_from(until[j], kWarp - 1));
    }
    if (lane == 0) totals[buffer][warp] = total;
    __syncthreads();
    A before_warp = carry;
    for (int w = 0; w < warps; ++w) {
      if (w == warp) before_warp = carry;
      carry = Op::combine(carry, totals[buffer][w]);
    }
    buffer ^= 1;
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int64_t first = at + j * kWarp * W;
      const A start = Op::combine(before_warp, prefix[j]);
#pragma unroll
      for (int k = 0; k < W; ++k) x[j][k] = Op::combine(start, x[j][k]);
      if (first < end) store(row * n + first, x[j]);
    }
  }
}

// Thread t processes chunk t / lines of line t % lines.  `before`: null, or the results at the ends of all chunks,
// [chunks, lines].
template <class T, class Op, class Store>
__global__ void scan_columns(const T* in, Store store, const typename Op::Acc* before, int64_t lines, int64_t n,
                             int64_t inner, int64_t step, int64_t chunks) {
  await_earlier_work();
  using A = typename Op::Acc;
  constexpr int U = 8;
  const int64_t unit = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= lines * chunks) return;
  const Op op{};
  const int64_t chunk = unit / lines, line = unit % lines;
  const int64_t base = line / inner * n * inner + line % inner;
  const int64_t end = (chunk + 1) * step < n ? (chunk + 1) * step : n;
  A total[1] = {before && chunk > 0 ? before[(chunk - 1) * lines + line] : Op::identity()};
  for (int64_t i = chunk * step; i < end; i += U) {
    T x[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < end) x[u] = in[base + (i + u) * inner];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < end) {
        total[0] = Op::combine(total[0], mapped(op, x[u], typename Op::Value{}, i + u));
        store(base + (i + u) * inner, total);
      }
  }
}

// out[k] = in[k] + factor[k] * out[k - 1], or out[k + 1] if `reverse`: a thread per line.
template <class T, class A>
__global__ void scan_linear(const T* in, const T* factor, T* out, bool reverse, int64_t lines, int64_t n,
                            int64_t inner) {
  await_earlier_work();
  constexpr int U = 4;
  const int64_t line = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const int64_t stride = reverse ? -inner : inner;
  const int64_t base = line / inner * n * inner + line % inner + (reverse ? (n - 1) * inner : 0);
  A total = 0;
  for (int64_t i = 0; i < n; i += U) {
    T x[U], f[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < n) {
        x[u] = in[base + (i + u) * stride];
        f[u] = factor[base + (i + u) * stride];
      }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u < n) {
        total = static_cast<A>(x[u]) + static_cast<A>(f[u]) * total;
        out[base + (i + u) * stride] = static_cast<T>(total);
      }
  }
}

}  // namespace argand
