// Sorting on the device: keys and entries of kernels/sort_key.h, and a network that sorts few of them.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/kernels/sort_key.h"

namespace argand {

// sort_key() of a float in fewer steps: a sum with 0 is never -0, and PTX produces only one float NaN, 0x7fffffff.
template <>
__device__ __forceinline__ unsigned sort_key(float value) {
  const unsigned bits = __float_as_uint(__fadd_rn(value, 0.0f));
  return bits ^ (static_cast<unsigned>(static_cast<int>(bits) >> 31) | 0x80000000u);
}
// Descending inverts the keys.
template <class T>
__device__ __forceinline__ SortKey<T> sort_key(T value, bool descending) {
  const SortKey<T> key = sort_key(value);
  return descending ? static_cast<SortKey<T>>(~key) : key;
}

template <bool kFits>
struct EntryThat {
  using type = WideEntry;
};
template <>
struct EntryThat<true> {
  using type = PackedEntry;
};
template <class T>
using SortEntry = typename EntryThat<sizeof(T) <= 4>::type;

// Puts each stretch of `length` of the `total` entries in shared memory in order: a bitonic network (Batcher, 1968).
// Both are powers of two.  All threads of the block call it, and see the result.
template <class Entry>
__device__ void sort_stretches(Entry* entries, unsigned total, unsigned length) {
  unsigned before = total;  // what the step before moved lies that far apart
  for (unsigned size = 2; size <= length; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      // Up to a stride of a warp, the pairs of a warp are those of 64 entries of its own.
      if (stride <= kWarp && before <= kWarp)
        __syncwarp();
      else
        __syncthreads();
      before = stride;
      for (unsigned pair = threadIdx.x; pair < total / 2; pair += blockDim.x) {
        const unsigned i = 2 * pair - (pair & (stride - 1)), j = i + stride;
        const bool upwards = (i & (length - 1) & size) == 0;
        const Entry a = entries[i], b = entries[j];
        if ((b < a) == upwards) {
          entries[i] = b;
          entries[j] = a;
        }
      }
    }
  }
  __syncthreads();
}

// The element that is picked of a row: Pick.
inline constexpr int kNth = 0, kMedian = 1, kNanMedian = 2, kMode = 3;

// The rank of what is picked among n elements, `nans` of which, the last ones in order, are NaN.
__device__ __forceinline__ int64_t rank_of(int pick, int64_t nth, int64_t n, int64_t nans) {
  if (pick == kNth) return nth;
  if (pick == kMedian) return nans > 0 ? n - nans : (n - 1) / 2;
  return nans < n ? (n - nans - 1) / 2 : 0;
}

}  // namespace argand
