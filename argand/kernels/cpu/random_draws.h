// Draws from the CPU generator in batches, for the files random*.cpp.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "argand/base/reduced_float.h"
#include "argand/core/cpu_generator.h"

namespace argand::cpu {

inline constexpr size_t kDrawsAtOnce = 2048;  // a batch and its samples stay in the first-level cache

// Calls `use(draws, first, count)` for consecutive batches of `n` samples that take `Words` 32-bit draws each; draws
// holds Words * count of them, for the samples first, first + 1, ...
template <size_t Words, class Use>
void for_each_batch(Mt19937& engine, int64_t n, Use use) {
  constexpr size_t kBatch = kDrawsAtOnce / Words;
  uint32_t draws[kDrawsAtOnce];
  const size_t total = static_cast<size_t>(n);
  for (size_t first = 0; first < total; first += kBatch) {
    const size_t count = std::min(kBatch, total - first);
    engine.fill(draws, Words * count);
    use(static_cast<const uint32_t*>(draws), first, count);
  }
}

// The i-th 64-bit draw of a batch taken with Words = 2.
inline uint64_t draw64(const uint32_t* draws, size_t i) {
  return (static_cast<uint64_t>(draws[2 * i]) << 32) | draws[2 * i + 1];
}

// One in [0, 1), of 53 bits.
inline double fraction(CpuGeneratorImpl& gen) {
  return static_cast<double>(gen.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

// One in double by the polar method; see CpuGeneratorImpl for where the second goes.  The caller holds the mutex.
double standard_normal(CpuGeneratorImpl& gen);

// To an element type, the 16-bit ones through float as PyTorch does.
template <class T>
T from_double(double value) {
  if constexpr (ReducedFloat<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
T from_integer(int64_t value) {
  if constexpr (ReducedFloat<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace argand::cpu
