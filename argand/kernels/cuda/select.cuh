// Finds the first few elements of long rows, or one by its rank, digit by digit from the highest, without sorting the
// rest (Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", 2012).
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/sort_entries.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr int kSelectThreads = 512, kBinBits = 11, kBins = 1 << kBinBits, kMostSelected = 2048;

// Elements i < n of a row, of which this thread has every 512th; their keys are kept in registers if kItems > 0.  Their
// positions are counted from `first`, or given by `list`.
template <class T, int kItems>
struct SelectElements {
  const T* in;
  const unsigned* list;
  int64_t n;
  unsigned first;
  bool descending;
  SortKey<T> kept[kItems > 0 ? kItems : 1];

  __device__ __forceinline__ void load() {
    if constexpr (kItems > 0) {
      T x[kItems];
#pragma unroll
      for (int j = 0; j < kItems; ++j)
        if (j * kSelectThreads + threadIdx.x < static_cast<unsigned>(n)) x[j] = in[j * kSelectThreads + threadIdx.x];
#pragma unroll
      for (int j = 0; j < kItems; ++j) kept[j] = sort_key(x[j], descending);
    }
  }
  __device__ __forceinline__ unsigned position(int64_t i) const {
    return list ? list[i] : first + static_cast<unsigned>(i);
  }
  // f(key) for all.
  template <class F>
  __device__ __forceinline__ void each_key(F f) const {
    if constexpr (kItems > 0) {
#pragma unroll
      for (int j = 0; j < kItems; ++j)
        if (j * kSelectThreads + threadIdx.x < static_cast<unsigned>(n)) f(kept[j]);
    } else {
      each([&](SortKey<T> key, int64_t) { f(key); });
    }
  }
  // f(key, i) for all as they are in memory.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < n; i += kSelectThreads) f(sort_key(in[i], descending), i);
  }
  // f(key, i) for those with keys up to `most`, which are few.
  template <class F>
  __device__ __forceinline__ void each_up_to(SortKey<T> most, F f) const {
    if constexpr (kItems > 0) {
      unsigned found = 0;
#pragma unroll
      for (int j = 0; j < kItems; ++j)
        if (kept[j] <= most && j * kSelectThreads + threadIdx.x < static_cast<unsigned>(n)) found |= 1u << j;
      for (; found != 0; found &= found - 1) {
        const int64_t i = (__ffs(static_cast<int>(found)) - 1) * kSelectThreads + static_cast<int>(threadIdx.x);
        f(sort_key(in[i], descending), i);
      }
    } else {
      each([&](SortKey<T> key, int64_t i) {
        if (key <= most) f(key, i);
      });
    }
  }
};

// Selects elements up to `key` in the bits of `key_mask`; among equal ones, those up to `position` in the bits of its
// mask.
template <class Key>
struct Selection {
  Key key, key_mask;
  unsigned position, position_mask;
  template <class E>
  __device__ __forceinline__ bool holds(const E& elements, Key k, int64_t i) const {
    if ((k & key_mask) != key) return (k & key_mask) < key;
    return position_mask == 0 || (elements.position(i) & position_mask) <= position;
  }
};

struct FoundBin {
  unsigned bin, before, count;  // `before`: elements of the bins before it
};

// The bin that holds the element number `need`, counted from 1.  All threads of the block call it.
__device__ inline FoundBin find_bin(const unsigned* bins, unsigned need) {
  constexpr int kEach = kBins / kSelectThreads;
  __shared__ unsigned totals[kSelectThreads / kWarp];
  __shared__ FoundBin found;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned sum = 0;
#pragma unroll
  for (int q = 0; q < kEach; ++q) sum += bins[threadIdx.x * kEach + q];
  const unsigned upto = warp_sum_upto(sum);
  if (lane == kWarp - 1) totals[warp] = upto;
  __syncthreads();
  unsigned before = upto - sum;
  for (unsigned w = 0; w < warp; ++w) before += totals[w];
#pragma unroll
  for (int q = 0; q < kEach; ++q) {
    const unsigned bin = threadIdx.x * kEach + q, count = bins[bin];
    if (before < need && need <= before + count) found = {bin, before, count};
    before += count;
  }
  __syncthreads();
  const FoundBin out = found;
  __syncthreads();  // `found` and `bins` may be used again
  return out;
}

// Narrows one word (the key, then the position) by kBinBits at a time, until the selection holds `need` elements or, if
// it must end at one element, until all bits are known.
template <class Word>
struct Narrowing {
  Word value = 0, mask = 0;
  unsigned need, count = 0;  // still to be found among those equal so far; how many these are
  bool exact;

  __device__ __forceinline__ bool done() const { return !exact && need == count; }
  // `each_word(f)` calls f(word) for every element that takes part.
  template <class Each>
  __device__ __forceinline__ void narrow(int bits, unsigned* bins, Each each_word) {
    while (bits > 0 && !done()) {
      const int shift = bits > kBinBits ? bits - kBinBits : 0;
      const auto digits = static_cast<Word>((Word{1} << (bits - shift)) - 1);
      for (int b = threadIdx.x; b < kBins; b += kSelectThreads) bins[b] = 0;
      __syncthreads();
      each_word([&](Word w) {
        if ((w & mask) == value) atomicAdd(bins + static_cast<unsigned>(static_cast<Word>(w >> shift) & digits), 1u);
      });
      __syncthreads();
      const FoundBin found = find_bin(bins, need);
      need -= found.before;
      count = found.count;
      value = static_cast<Word>(value | static_cast<Word>(found.bin) << shift);
      mask = static_cast<Word>(mask | static_cast<Word>(digits << shift));
      bits = shift;
    }
  }
};

// The first `need` >= 1 elements in order, or the one that is number `need` if `exact`.  Positions have
// `position_bits`.
template <class T, int kItems>
__device__ Selection<SortKey<T>> select(const SelectElements<T, kItems>& elements, unsigned need, int position_bits,
                                        bool exact, unsigned* bins) {
  using Key = SortKey<T>;
  Narrowing<Key> key{0, 0, need, 0, exact};
  key.narrow(8 * sizeof(Key), bins, [&](auto f) { elements.each_key(f); });
  Narrowing<unsigned> position{0, 0, key.need, key.count, exact};
  if (!key.done())
    position.narrow(position_bits, bins, [&](auto f) {
      elements.each([&](Key k, int64_t i) {
        if (k == key.value) f(elements.position(i));
      });
    });
  return {key.value, key.mask, position.value, position.mask};
}

template <class T, int kItems>
__device__ __forceinline__ SelectElements<T, kItems> elements_of(const T* in, const unsigned* list,
                                                                 const SelectShape& s) {
  const int64_t row = blockIdx.x / s.chunks, chunk = blockIdx.x % s.chunks;
  const int64_t begin = chunk * s.n / s.chunks, end = (chunk + 1) * s.n / s.chunks;
  SelectElements<T, kItems> e{in + row * s.n + begin,
                              list ? list + row * s.n + begin : nullptr,
                              end - begin,
                              static_cast<unsigned>(begin),
                              s.descending,
                              {}};
  e.load();
  return e;
}

// Lists the elements that may be among the first `need` <= kMostBounded: the first elements of 128 groups are sorted,
// and no element beyond the one with number `need` among them can be.  For random elements the list is only slightly
// longer than `need`.  Returns its length; `entries` gets it, unordered, if there is at most one for every thread.
inline constexpr unsigned kBoundGroups = 128, kMostBounded = 96;
template <class T, int kItems>
__device__ unsigned list_bounded(const SelectElements<T, kItems>& elements, unsigned need, SortEntry<T>* entries) {
  using Key = typename UnsignedOfSize<sizeof(T) <= 4 ? 4 : 8>::type;  // that warps exchange
  constexpr unsigned kThreads = kSelectThreads / kBoundGroups;        // of a group
  __shared__ Key firsts[kBoundGroups], bound;
  __shared__ unsigned next;
  const unsigned group = threadIdx.x / kThreads, part = threadIdx.x % kThreads;
  Key first = static_cast<Key>(~Key{0});
  elements.each_key([&](Key key) { first = key < first ? key : first; });
#pragma unroll
  for (unsigned step = 1; step < kThreads; step *= 2) {
    const Key other = __shfl_xor_sync(0xffffffffu, first, step);
    first = other < first ? other : first;
  }
  if (part == 0) firsts[group] = first;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  unsigned before = 0;
#pragma unroll 8
  for (unsigned other = part; other < kBoundGroups; other += kThreads)
    before += firsts[other] < first || (firsts[other] == first && other < group);
#pragma unroll
  for (unsigned step = 1; step < kThreads; step *= 2) before += __shfl_xor_sync(0xffffffffu, before, step);
  if (part == 0 && before == need - 1) bound = first;
  __syncthreads();
  elements.each_up_to(static_cast<SortKey<T>>(bound), [&](SortKey<T> key, int64_t i) {
    const unsigned slot = atomicAdd(&next, 1u);
    if (slot < kSelectThreads) entries[slot] = SortEntry<T>::make(key, elements.position(i));
  });
  __syncthreads();
  return next;
}

// Sorts `n` entries, at most one for every thread: each thread counts the entries before its own.
template <class Entry>
__device__ void rank_entries(Entry* entries, unsigned n) {
  Entry mine;
  unsigned before = 0;
  if (threadIdx.x < n) {
    mine = entries[threadIdx.x];
#pragma unroll 8
    for (unsigned e = 0; e < n; ++e) before += entries[e] < mine;
  }
  __syncthreads();
  if (threadIdx.x < n) entries[before] = mine;
  __syncthreads();
}

// Stores the first `count` of each chunk of each row in [rows, chunks, count]; sorted if a row is one chunk.  Positions
// refer to rows of `source`; `list` has them for each element of `in`; without it `in` is `source`.  `values` may be
// null.
template <class T, int kItems, class Index>
__global__ void __launch_bounds__(kSelectThreads, 2)
    select_first(const T* in, const unsigned* list, const T* source, SelectShape s, T* values, Index* indices) {
  await_earlier_work();
  __shared__ unsigned bins[kBins];
  __shared__ SortEntry<T> entries[kMostSelected];
  __shared__ unsigned next;
  const auto elements = elements_of<T, kItems>(in, list, s);
  const unsigned bounded = s.count <= kMostBounded ? list_bounded(elements, s.count, entries) : kSelectThreads + 1;
  if (bounded <= kSelectThreads) {
    rank_entries(entries, bounded);
  } else {
    const auto selection = select(elements, s.count, s.position_bits, false, bins);
    if (threadIdx.x == 0) next = 0;
    for (unsigned e = s.count + threadIdx.x; e < s.length; e += kSelectThreads) entries[e] = SortEntry<T>::last();
    __syncthreads();
    elements.each([&](SortKey<T> key, int64_t i) {
      if (selection.holds(elements, key, i))
        entries[atomicAdd(&next, 1u)] = SortEntry<T>::make(key, elements.position(i));
    });
    __syncthreads();
    if (s.chunks == 1) sort_stretches(entries, s.length, s.length);
  }
  source += blockIdx.x / s.chunks * s.source_n;
  const int64_t to = int64_t{blockIdx.x} * s.count;
  for (unsigned e = threadIdx.x; e < s.count; e += kSelectThreads) {
    const unsigned at = entries[e].at();
    if (values) values[to + e] = source[at];
    indices[to + e] = at;
  }
}

// One element of each row by its rank.
template <class T, int kItems, int kPick>
__global__ void __launch_bounds__(kSelectThreads, 2)
    select_one(const T* in, SelectShape s, int64_t nth, T* values, int64_t* indices) {
  await_earlier_work();
  __shared__ unsigned bins[kBins];
  const auto elements = elements_of<T, kItems>(in, nullptr, s);
  int64_t nans = 0;
  if constexpr (kHasNan<T> && kPick != kNth) {
    elements.each_key([&](SortKey<T> key) { nans += key == kNanKey<T>; });
    nans = block_reduce(nans, Add(), int64_t{0});
  }
  const auto need = static_cast<unsigned>(rank_of(kPick, nth, s.n, nans) + 1);
  const auto selection = select(elements, need, s.position_bits, true, bins);
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = elements.in[selection.position];
  indices[blockIdx.x] = selection.position;
}

}  // namespace argand
