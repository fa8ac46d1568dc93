// Elements that follow from their positions alone: arange, linspace, logspace.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct Sequence {
  enum Kind : int {
    kIntegers,  // first + i * step
    kNumbers,   // start + i * by
    // Symmetric: both ends are exact, and the second half mirrors the first.
    kLine,    // n numbers from start to end, `by` apart
    kPowers,  // base to the powers of such a line
  };
  Kind kind;
  int64_t first = 0, step = 0;
  double start = 0, end = 0, by = 0, base = 0;
};

// Fills `n` contiguous elements of any dtype with numbers that are computed in int64 or double and rounded once.
using FillSequence = void(const Sequence& sequence, ScalarType type, void* out, int64_t n);

}  // namespace argand
