// The positions at which a mask is true: blocks count in tiles, the counts are added up, and the tiles are written.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr int kMaskItems = 16, kMaskThreads = 256, kMaskTile = kMaskItems * kMaskThreads;

using MaskItems = Vec<unsigned char, kMaskItems>;

// The thread's neighbours, from `at` on; zeros beyond n.
__device__ __forceinline__ MaskItems load_mask(const unsigned char* mask, int64_t at, int64_t n, bool aligned) {
  if (aligned) return load<kMaskItems>(mask, at, n);
  MaskItems v{};
#pragma unroll
  for (int k = 0; k < kMaskItems; ++k)
    if (at + k < n) v[k] = mask[at + k];
  return v;
}

__device__ __forceinline__ int count_items(const MaskItems& v) {
  int count = 0;
#pragma unroll
  for (int k = 0; k < kMaskItems; ++k) count += v[k] != 0;
  return count;
}

// counts[block], and 0 after the last one.
__global__ void __launch_bounds__(kMaskThreads)
    count_true(const unsigned char* mask, int64_t n, bool aligned, unsigned* counts) {
  await_earlier_work();
  const int64_t at = int64_t{blockIdx.x} * kMaskTile + int64_t{threadIdx.x} * kMaskItems;
  const int count = block_reduce(count_items(load_mask(mask, at, n, aligned)), Add(), 0);
  if (threadIdx.x != 0) return;
  counts[blockIdx.x] = unsigned(count);
  if (blockIdx.x == gridDim.x - 1) counts[gridDim.x] = 0;
}

// One block: counts[i] becomes the sum of those before it.  Every thread has a stretch of its own.
__global__ void __launch_bounds__(1024) sum_counts(unsigned* counts, int n) {
  await_earlier_work();
  __shared__ unsigned totals[kWarp];
  const int each = (n + int(blockDim.x) - 1) / int(blockDim.x);
  const int begin = int(threadIdx.x) * each, end = min(n, begin + each);
  unsigned sum = 0;
  for (int i = begin; i < end; ++i) sum += counts[i];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned upto = warp_sum_upto(sum);
  if (lane == kWarp - 1) totals[warp] = upto;
  __syncthreads();
  unsigned before = upto - sum;
  for (unsigned w = 0; w < warp; ++w) before += totals[w];
  for (int i = begin; i < end; ++i) {
    const unsigned count = counts[i];
    counts[i] = before;
    before += count;
  }
}

__global__ void __launch_bounds__(kMaskThreads)
    write_true(const unsigned char* mask, int64_t n, bool aligned, const unsigned* starts, int64_t* positions) {
  await_earlier_work();
  __shared__ int totals[kMaskThreads / kWarp];
  const int64_t at = int64_t{blockIdx.x} * kMaskTile + int64_t{threadIdx.x} * kMaskItems;
  const MaskItems v = load_mask(mask, at, n, aligned);
  const int count = count_items(v), lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  int upto = count;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, upto, step);
    if (lane >= step) upto += other;
  }
  if (lane == kWarp - 1) totals[warp] = upto;
  __syncthreads();
  int64_t to = int64_t{starts[blockIdx.x]} + upto - count;
  for (int w = 0; w < warp; ++w) to += totals[w];
#pragma unroll
  for (int k = 0; k < kMaskItems; ++k)
    if (v[k] != 0) positions[to++] = at + k;
}

}  // namespace argand
