// Puts entries in order: keys and positions of kernels/sort_key.h.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "argand/kernels/sort_key.h"

namespace argand::cpu {

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
