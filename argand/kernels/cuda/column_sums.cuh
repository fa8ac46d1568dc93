// Second stages: per column of [count, width] partial results, their sum or their moments, in double and in an order
// that follows from the shape.  Blocks are 32 columns wide and 32 rows high.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// The sum over the threads of a column; all of them get it.
__device__ __forceinline__ double sum_of_column(double x) {
  __shared__ double all[kWarp][kWarp + 1];
  all[threadIdx.y][threadIdx.x] = x;
  __syncthreads();
  // A warp sums one column and returns the sum through the column's first row.
  const double sum = warp_reduce(all[threadIdx.x][threadIdx.y], Add());
  __syncthreads();
  if (threadIdx.x == 0) all[0][threadIdx.y] = sum;
  __syncthreads();
  const double mine = all[0][threadIdx.x];
  __syncthreads();
  return mine;
}

// out[j] = sum of parts[i * width + j]; the blocks in y after the first do the second ones.
template <class A>
__global__ void __launch_bounds__(1024)
    add_parts(const A* parts, const A* second_parts, int64_t count, int64_t width, A* out, A* second_out) {
  await_earlier_work();
  if (blockIdx.y > 0) {
    parts = second_parts;
    out = second_out;
  }
  const int64_t j = int64_t{blockIdx.x} * kWarp + threadIdx.x;
  double sum = 0;
  if (j < width) {
#pragma unroll 4
    for (int64_t i = threadIdx.y; i < count; i += kWarp) sum += static_cast<double>(parts[i * width + j]);
  }
  sum = sum_of_column(sum);
  if (threadIdx.y == 0 && j < width) out[j] = static_cast<A>(sum);
}

// Part i is the mean of `each` elements (of `last` ones, the last part) and the sum of their squared distances from it.
template <class A>
__global__ void __launch_bounds__(1024) join_moments(const A* means, const A* squares, int64_t count, int64_t width,
                                                     int64_t each, int64_t last, A* mean, A* variance) {
  await_earlier_work();
  const int64_t j = int64_t{blockIdx.x} * kWarp + threadIdx.x;
  const double n = static_cast<double>((count - 1) * each + last);
  const auto weight = [&](int64_t i) { return static_cast<double>(i == count - 1 ? last : each); };
  double sum = 0;
  if (j < width) {
#pragma unroll 4
    for (int64_t i = threadIdx.y; i < count; i += kWarp) sum += weight(i) * static_cast<double>(means[i * width + j]);
  }
  const double center = sum_of_column(sum) / n;
  sum = 0;
  if (j < width) {
#pragma unroll 4
    for (int64_t i = threadIdx.y; i < count; i += kWarp) {
      const double d = static_cast<double>(means[i * width + j]) - center;
      sum += static_cast<double>(squares[i * width + j]) + weight(i) * d * d;
    }
  }
  sum = sum_of_column(sum);
  if (threadIdx.y != 0 || j >= width) return;
  mean[j] = static_cast<A>(center);
  variance[j] = static_cast<A>(sum / n);
}

}  // namespace argand
