// Elements as unsigned keys together with their positions: the order of kernels/cpu/sort.h, as sort_entries.h there
// has it.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

template <int kBytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = unsigned char;
};
template <>
struct UnsignedOfSize<2> {
  using type = unsigned short;
};
template <>
struct UnsignedOfSize<4> {
  using type = unsigned;
};
template <>
struct UnsignedOfSize<8> {
  using type = uint64_t;
};
template <class T>
using SortKey = typename UnsignedOfSize<sizeof(T)>::type;

// 0: T is of integers.
template <class T>
inline constexpr SortKey<T> kInfinityBits = 0;
template <>
inline constexpr unsigned short kInfinityBits<Half> = 0x7c00;
template <>
inline constexpr unsigned short kInfinityBits<BFloat16> = 0x7f80;
template <>
inline constexpr unsigned kInfinityBits<float> = 0x7f800000;
template <>
inline constexpr uint64_t kInfinityBits<double> = 0x7ff0000000000000;
template <class T>
inline constexpr bool kHasNan = kInfinityBits<T> != 0;

template <class T>
inline constexpr bool kIsUnsigned = false;
template <>
inline constexpr bool kIsUnsigned<unsigned char> = true;
template <>
inline constexpr bool kIsUnsigned<bool> = true;

// Keys compare as their elements do; no other element has the key of NaN, which is the largest.
template <class T>
inline constexpr SortKey<T> kNanKey = static_cast<SortKey<T>>(~SortKey<T>{0});

template <class T>
__device__ __forceinline__ SortKey<T> sort_key(T value) {
  using Key = SortKey<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key bits = __builtin_bit_cast(Key, value);
  if constexpr (kHasNan<T>) {
    const Key magnitude = static_cast<Key>(bits & ~kSign);
    const bool positive = magnitude == 0 || bits == magnitude;
    const Key key = static_cast<Key>(positive ? magnitude | kSign : ~bits);
    return magnitude > kInfinityBits<T> ? kNanKey<T> : key;
  } else {
    return kIsUnsigned<T> ? bits : static_cast<Key>(bits ^ kSign);
  }
}
// Descending turns the keys around.
template <class T>
__device__ __forceinline__ SortKey<T> sort_key(T value, bool descending) {
  const SortKey<T> key = sort_key(value);
  return descending ? static_cast<SortKey<T>>(~key) : key;
}

struct PackedEntry {
  uint64_t word;
  static __device__ __forceinline__ PackedEntry make(uint64_t key, unsigned at) { return {key << 32 | at}; }
  static __device__ __forceinline__ PackedEntry last() { return {~uint64_t{0}}; }
  __device__ __forceinline__ uint64_t key() const { return word >> 32; }
  __device__ __forceinline__ unsigned at() const { return static_cast<unsigned>(word); }
  friend __device__ __forceinline__ bool operator<(const PackedEntry& a, const PackedEntry& b) {
    return a.word < b.word;
  }
};
struct WideEntry {
  uint64_t bits;
  unsigned position;
  static __device__ __forceinline__ WideEntry make(uint64_t key, unsigned at) { return {key, at}; }
  static __device__ __forceinline__ WideEntry last() { return {~uint64_t{0}, ~0u}; }
  __device__ __forceinline__ uint64_t key() const { return bits; }
  __device__ __forceinline__ unsigned at() const { return position; }
  friend __device__ __forceinline__ bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.position < b.position);
  }
};
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

// What is picked of a row: cpu::Pick.
inline constexpr int kNth = 0, kMedian = 1, kNanMedian = 2, kMode = 3;

// The rank of what is picked among n elements, `nans` of which, the last ones in order, are NaN.
__device__ __forceinline__ int64_t rank_of(int pick, int64_t nth, int64_t n, int64_t nans) {
  if (pick == kNth) return nth;
  if (pick == kMedian) return nans > 0 ? n - nans : (n - 1) / 2;
  return nans < n ? (n - nans - 1) / 2 : 0;
}

}  // namespace argand
