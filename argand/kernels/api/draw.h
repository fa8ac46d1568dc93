// Random numbers in a device's memory.  On the CPU the ops call kernels/cpu/random.h.
#pragma once
#include <algorithm>
#include <cmath>

#include "argand/core/dtype.h"
#include "argand/core/generator.h"

namespace argand {

struct Draw {
  enum Kind : int {
    kUniform,      // [a, b)
    kNormal,       // mean a, standard deviation b
    kIntegers,     // from, ..., from + range - 1; all of int64 for range 0
    kBernoulli,    // 1 with probability a, or with that of `chances`
    kExponential,  // rate a
    kGeometric,    // trials of success probability a until the first success
    kCauchy,       // median a, scale b
    kLogNormal,    // exp of kNormal
    kKept,         // of bools: false where 16 random bits are below `from`
    kGamma,        // shapes `chances`; at least a
    kPoisson,      // means `chances`; NaN for those below 0
    kBinomial,     // successes of `chances` trials with probabilities `chances_b`
  };
  Kind kind;
  double a = 0, b = 0;
  int64_t from = 0;
  uint64_t range = 0;
  bool wide = false;                // integers use 64 random bits instead of 32
  const void* chances = nullptr;    // double for elements of double and the last three kinds, else float
  const void* chances_b = nullptr;  // of double
  // For kKept: numbers that KeepNumbers took, used instead of the generator's next ones.  Each thread skips `skipped`.
  const void* state = nullptr;
  uint64_t skipped = 0;
};

inline constexpr uint64_t kNumbersOfMask = 8;        // taken by each thread for kKept
inline constexpr uint64_t kNumbersOfRejection = 64;  // taken by each element for kGamma, kPoisson and kBinomial

// Dropout with probability p by 16 random bits for each element: an element is dropped if its bits are below `below`,
// and the others are multiplied by `scale`, which compensates for exactly that probability.
struct DropShare {
  static constexpr double kNumbers = 0x1p16;
  double below, scale;
  explicit DropShare(double p)
      : below(p < 1 ? std::min(std::round(p * kNumbers), kNumbers - 1) : kNumbers),
        scale(p < 1 ? kNumbers / (kNumbers - below) : 0) {}
};

// Fills `n` elements; locks the generator.
using RunDraw = void(const Draw& draw, ScalarType type, void* out, int64_t n, GeneratorImpl& generator);
// Takes the next `count` numbers of each thread; `state` ([2] int64 on the device) receives where they begin.
using KeepNumbers = void(GeneratorImpl& generator, uint64_t count, void* state);

}  // namespace argand
