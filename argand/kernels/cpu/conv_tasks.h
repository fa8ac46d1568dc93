// How convolutions are cut into tasks, and sums into parts.
#pragma once
#include <algorithm>
#include <cstdint>

#include "argand/kernels/cpu/conv.h"

namespace argand::cpu {

inline constexpr int64_t kTaskProducts = 128 << 10;  // a few microseconds: enough to be worth handing over

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many tasks of so many products are worth handing over.
inline int64_t grain_for(int64_t products) {
  return std::max<int64_t>(1, kTaskProducts / std::max<int64_t>(1, products));
}

// A range cut into `count` pieces whose sizes differ by one at most.
struct Pieces {
  Pieces(int64_t whole, int64_t largest) : size(whole), count(std::max<int64_t>(1, ceil_div(whole, largest))) {}
  int64_t start(int64_t i) const { return size * i / count; }
  int64_t length(int64_t i) const { return start(i + 1) - start(i); }
  int64_t size;
  int64_t count;
};

// Cuts `whole` units, which cover all positions of the output, into the parts over which a weight's gradient is summed.
// The cut follows from the shape alone: each part has sums of its own, which are added in order.
inline Pieces parts_of_sums(const ConvShape& s, int64_t whole) {
  constexpr int64_t kPositions = 2048, kMost = 16;
  return {whole, ceil_div(whole, std::clamp<int64_t>(s.n * s.out_size() / kPositions, 1, kMost))};
}

}  // namespace argand::cpu
