// Rows that fit a block's shared memory: sorted there, several in a block if they are short.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/sort_entries.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr unsigned kShortRowThreads = 512, kMostShortEntries = 2048;

template <class T>
__device__ void load_and_sort(const T* in, const ShortRows& s, SortEntry<T>* entries) {
  const unsigned total = s.together * s.length;
  for (unsigned e = threadIdx.x; e < total; e += blockDim.x) {
    const int64_t row = int64_t{blockIdx.x} * s.together + e / s.length;
    const unsigned at = e % s.length;
    const bool inside = row < s.rows && at < s.n;
    entries[e] = inside ? SortEntry<T>::make(sort_key(in[row * s.n + at], s.descending), at) : SortEntry<T>::last();
  }
  sort_stretches(entries, total, s.length);
}

// The first `count` of each row.  `values` may be null.
template <class T>
__global__ void __launch_bounds__(kShortRowThreads)
    sort_short_rows(const T* in, ShortRows s, unsigned count, T* values, int64_t* indices) {
  await_earlier_work();
  __shared__ SortEntry<T> entries[kMostShortEntries];
  load_and_sort(in, s, entries);
  for (unsigned e = threadIdx.x; e < s.together * s.length; e += blockDim.x) {
    const int64_t row = int64_t{blockIdx.x} * s.together + e / s.length;
    const unsigned place = e % s.length;
    if (row >= s.rows || place >= count) continue;
    const unsigned at = entries[e].at();
    if (values) values[row * count + place] = in[row * s.n + at];
    indices[row * count + place] = at;
  }
}

// A thread looks through a row.
template <class T, int kPick>
__device__ unsigned picked(const SortEntry<T>* entries, unsigned n, int64_t nth) {
  if constexpr (kPick == kMode) {
    unsigned chosen = 0;
    for (unsigned i = 1, start = 0, most = 1; i < n; ++i) {
      const uint64_t key = entries[i].key();
      if (key != entries[start].key() || (kHasNan<T> && key == kNanKey<T>)) start = i;  // NaN equals nothing
      if (i - start + 1 <= most) continue;
      most = i - start + 1;
      chosen = i;
    }
    return chosen;
  } else {
    unsigned begin = 0, end = kHasNan<T> && kPick != kNth ? n : 0;
    while (begin < end) {
      const unsigned middle = (begin + end) / 2;
      if (entries[middle].key() == kNanKey<T>)
        end = middle;
      else
        begin = middle + 1;
    }
    const unsigned nans = kHasNan<T> && kPick != kNth ? n - begin : 0;
    return static_cast<unsigned>(rank_of(kPick, nth, n, nans));
  }
}

template <class T, int kPick>
__global__ void __launch_bounds__(kShortRowThreads)
    pick_of_short_rows(const T* in, ShortRows s, int64_t nth, T* values, int64_t* indices) {
  await_earlier_work();
  __shared__ SortEntry<T> entries[kMostShortEntries];
  load_and_sort(in, s, entries);
  for (unsigned r = threadIdx.x; r < s.together; r += blockDim.x) {
    const int64_t row = int64_t{blockIdx.x} * s.together + r;
    if (row >= s.rows) continue;
    const SortEntry<T>* mine = entries + r * s.length;
    const unsigned at = mine[picked<T, kPick>(mine, static_cast<unsigned>(s.n), nth)].at();
    values[row] = in[row * s.n + at];
    indices[row] = at;
  }
}

}  // namespace argand
