// Elements as unsigned keys together with their positions: what the sorting loops move.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"

namespace argand::cpu {

template <int kBytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOfSize<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOfSize<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOfSize<8> {
  using type = uint64_t;
};
template <class T>
using SortKey = typename UnsignedOfSize<sizeof(T)>::type;

// Keys compare as their elements do; no other element has the key of NaN, which is the largest.
template <class T>
inline constexpr SortKey<T> kNanKey = static_cast<SortKey<T>>(~SortKey<T>{0});

template <class T>
SortKey<T> sort_key(T value) {
  using Key = SortKey<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
    return static_cast<Key>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Key>(static_cast<Key>(value) ^ kSign);
  } else {
    const auto infinity = std::bit_cast<Key>(std::numeric_limits<T>::infinity());
    const auto bits = std::bit_cast<Key>(value);
    const auto magnitude = static_cast<Key>(bits & ~kSign);
    if (magnitude > infinity) return kNanKey<T>;
    return magnitude == 0 || bits == magnitude ? static_cast<Key>(magnitude | kSign) : static_cast<Key>(~bits);
  }
}

// A key of at most 32 bits and a position below 2^32 in one word: the fast case.
struct PackedEntry {
  uint64_t word;
  static PackedEntry make(uint64_t key, int64_t at) { return {key << 32 | static_cast<uint64_t>(at)}; }
  uint64_t key() const { return word >> 32; }
  int64_t at() const { return static_cast<int64_t>(word & 0xffffffffu); }
  friend bool operator<(PackedEntry a, PackedEntry b) { return a.word < b.word; }
};
struct WideEntry {
  uint64_t bits;
  int64_t position;
  static WideEntry make(uint64_t key, int64_t at) { return {key, at}; }
  uint64_t key() const { return bits; }
  int64_t at() const { return position; }
  friend bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.position < b.position);
  }
};

// Sorts entries that stand in the order of their positions; `other` is working memory of the same size.
template <class Entry>
void sort_entries(Entry* entries, Entry* other, int64_t n, int key_bits) {
  constexpr int64_t kWorthCounting = 512;
  if (n < kWorthCounting) return std::sort(entries, entries + n);
  // Byte by byte from the lowest, each pass stable, so that equal keys stay in the order of their positions.
  constexpr int kMostDigits = 8, kBuckets = 256;
  int64_t counts[kMostDigits][kBuckets] = {};
  const int digits = key_bits / 8;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = entries[i].key();
    for (int d = 0; d < digits; ++d) ++counts[d][key >> (8 * d) & 0xff];
  }
  Entry *from = entries, *to = other;
  for (int d = 0; d < digits; ++d) {
    int64_t* starts = counts[d];
    if (starts[from[0].key() >> (8 * d) & 0xff] == n) continue;  // all have the same byte here
    int64_t next = 0;
    for (int b = 0; b < kBuckets; ++b) next += std::exchange(starts[b], next);
    for (int64_t i = 0; i < n; ++i) to[starts[from[i].key() >> (8 * d) & 0xff]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy(from, from + n, entries);
}

}  // namespace argand::cpu
