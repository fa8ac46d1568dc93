// Loss scaling: gradients are unscaled and searched for infinities and NaNs in one pass, and the scale is updated, both
// without the host.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/many_tensors.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class T, int W>
__device__ __forceinline__ bool unscale_tile(const UnscaleTable& table, int t, int64_t begin) {
  using M = op_math_t<T>;
  T* const data = static_cast<T*>(table.data[t]);
  const M by = static_cast<M>(*table.inv_scale);
  const int64_t numel = table.numel[t], end = begin + kUnscaleTile < numel ? begin + kUnscaleTile : numel;
  bool bad = false;
#pragma unroll 2
  for (int64_t at = begin + int64_t{threadIdx.x} * W; at < end; at += int64_t{blockDim.x} * W) {
    Vec<T, W> v = load<W>(data, at, numel);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const M x = convert<M>(v[k]);
      if (at + k < numel) bad |= x - x != M(0);  // inf - inf and NaN - NaN are NaN
      v[k] = convert<T>(x * by);
    }
    store(data, at, numel, v);
  }
  return bad;
}

template <class T>
__global__ void unscale_gradients(const __grid_constant__ UnscaleTable table) {
  await_earlier_work();
  const int t = tensor_of_block(table.first_block, table.count);
  const int64_t begin = int64_t{blockIdx.x - table.first_block[t]} * kUnscaleTile;
  const bool bad =
      table.scalar ? unscale_tile<T, 1>(table, t, begin) : unscale_tile<T, 16 / sizeof(T)>(table, t, begin);
  if (bad) *table.found[t] = 1;  // all who write, write the same
}

template <class T>
__global__ void update_scale(T* scale, int* growth_tracker, const T* found_inf, double growth_factor,
                             double backoff_factor, int growth_interval) {
  await_earlier_work();
  if (*found_inf != 0) {
    *scale = static_cast<T>(*scale * backoff_factor);
    *growth_tracker = 0;
    return;
  }
  const int successes = *growth_tracker + 1;
  const T grown = static_cast<T>(*scale * growth_factor);
  if (successes == growth_interval && grown - grown == 0) *scale = grown;
  *growth_tracker = successes == growth_interval ? 0 : successes;
}

}  // namespace argand
