// Elements as unsigned keys, and keys together with positions: the order of kernels/cpu/sort.h.  Compiled for CUDA
// devices too, by NVRTC, where kernels/cuda/types.cuh is included before.
#pragma once
#include "argand/kernels/math/base.h"
#if !ARGAND_MATH_DEVICE
#include "argand/base/bfloat16.h"
#include "argand/base/half.h"
#endif

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
  using type = unsigned long long;
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
inline constexpr unsigned long long kInfinityBits<double> = 0x7ff0000000000000;
template <class T>
inline constexpr bool kHasNan = kInfinityBits<T> != 0;

// Keys compare as their elements do; no other element has the key of NaN, which is the largest.
template <class T>
inline constexpr SortKey<T> kNanKey = static_cast<SortKey<T>>(~SortKey<T>{0});

template <class T>
ARGAND_MATH SortKey<T> sort_key(T value) {
  using Key = SortKey<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key bits = __builtin_bit_cast(Key, value);
  if constexpr (kHasNan<T>) {
    const Key magnitude = static_cast<Key>(bits & ~kSign);
    const bool positive = magnitude == 0 || bits == magnitude;
    const Key key = static_cast<Key>(positive ? magnitude | kSign : ~bits);
    return magnitude > kInfinityBits<T> ? kNanKey<T> : key;
  } else {
    constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
    return kSigned ? static_cast<Key>(bits ^ kSign) : bits;
  }
}

// A key of at most 32 bits and a position below 2^32 in one word: the fast case.
struct PackedEntry {
  unsigned long long word;
  ARGAND_HD static constexpr PackedEntry make(unsigned long long key, long long at) {
    return {key << 32 | static_cast<unsigned>(at)};
  }
  ARGAND_HD static constexpr PackedEntry last() { return {~0ull}; }
  ARGAND_HD constexpr unsigned long long key() const { return word >> 32; }
  ARGAND_HD constexpr long long at() const { return static_cast<unsigned>(word); }
  ARGAND_HD friend constexpr bool operator<(const PackedEntry& a, const PackedEntry& b) { return a.word < b.word; }
};
struct WideEntry {
  unsigned long long bits;
  long long position;
  ARGAND_HD static constexpr WideEntry make(unsigned long long key, long long at) { return {key, at}; }
  ARGAND_HD static constexpr WideEntry last() { return {~0ull, static_cast<long long>(~0ull >> 1)}; }
  ARGAND_HD constexpr unsigned long long key() const { return bits; }
  ARGAND_HD constexpr long long at() const { return position; }
  ARGAND_HD friend constexpr bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.position < b.position);
  }
};

}  // namespace argand
