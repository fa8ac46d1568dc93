// A stable sort of positions by small numbers: (index[k], k) in the order of index, equal ones in that of k.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// One block; n <= kFew = blockDim.x: each counts how many come before it.
inline constexpr int kFew = 1024;
__global__ void __launch_bounds__(kFew) group_few(const int64_t* index, int n, unsigned* keys, unsigned* order) {
  __shared__ unsigned all[kFew];
  const int k = int(threadIdx.x);
  if (k < n) all[k] = unsigned(index[k]);
  __syncthreads();
  if (k >= n) return;
  const unsigned key = all[k];
  int before = 0;
  for (int j = 0; j < n; ++j) before += all[j] < key || (all[j] == key && j < k);
  keys[before] = key;
  order[before] = unsigned(k);
}

// ---- more: a radix sort, 8 bits a pass
//
// Each block has a tile of kSortTile neighbours.  A pass counts the digits of each tile, adds the counts up over
// (digit, tile), and moves each element to the place that its digit, its tile and its rank among equals there say.

inline constexpr int kDigits = 256, kSortThreads = 256, kSortTile = 16 * kSortThreads;

// counts[digit * gridDim.x + block]
template <class Key>
__global__ void __launch_bounds__(kSortThreads) count_digits(const Key* keys, int n, int shift, unsigned* counts) {
  __shared__ unsigned count[kDigits];
  count[threadIdx.x] = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * kSortTile;
  for (int64_t i = begin + threadIdx.x; i < begin + kSortTile && i < n; i += kSortThreads)
    atomicAdd(count + (unsigned(keys[i]) >> shift & (kDigits - 1)), 1u);
  __syncthreads();
  counts[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// One block: counts[i] becomes the sum of those before it.  Every thread has a stretch of its own.
__global__ void __launch_bounds__(1024) sum_counts(unsigned* counts, int n) {
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

// `order` null: the position itself.
template <class Key>
__global__ void __launch_bounds__(kSortThreads)
    move_by_digit(const Key* keys, const unsigned* order, int n, int shift, const unsigned* starts, unsigned* to_keys,
                  unsigned* to_order) {
  constexpr int kWarps = kSortThreads / kWarp;
  __shared__ unsigned next[kDigits];           // where the next element with this digit goes
  __shared__ unsigned count[kWarps][kDigits];  // of the digits a warp holds now
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  next[threadIdx.x] = starts[int64_t{threadIdx.x} * gridDim.x + blockIdx.x];
  for (int w = 0; w < kWarps; ++w) count[w][threadIdx.x] = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * kSortTile;
  for (int64_t from = begin; from < begin + kSortTile && from < n; from += kSortThreads) {
    const int64_t i = from + threadIdx.x;
    const bool valid = i < n;
    const unsigned key = valid ? unsigned(keys[i]) : 0u,
                   digit = valid ? key >> shift & (kDigits - 1) : unsigned(kDigits);
    const unsigned equal = __match_any_sync(0xffffffffu, digit), before = equal & ((1u << lane) - 1);
    if (valid && before == 0) count[warp][digit] = unsigned(__popc(equal));
    __syncthreads();
    if (valid) {
      unsigned at = next[digit] + unsigned(__popc(before));
      for (unsigned w = 0; w < warp; ++w) at += count[w][digit];
      to_keys[at] = key;
      to_order[at] = order ? order[i] : unsigned(i);
    }
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) {
      next[threadIdx.x] += count[w][threadIdx.x];
      count[w][threadIdx.x] = 0;
    }
    __syncthreads();
  }
}

}  // namespace argand
