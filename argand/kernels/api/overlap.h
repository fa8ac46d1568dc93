// Greedy choice among boxes that overlap.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "argand/core/dtype.h"

namespace argand {

// boxes: [n, 4] of x1, y1, x2, y2, float or double (a GPU takes float16 and bfloat16, too, and computes in float), the
// best first.  kept[i] = 1 unless a kept box before i overlaps it: the area of their intersection is more than
// `threshold` of that of their union.  A box whose area is NaN overlaps none.
using KeepApart = void(ScalarType type, const void* boxes, int64_t n, double threshold, uint8_t* kept);

// The largest float that is not above `threshold`: a float is above it exactly if it is above `threshold`.
inline float float_threshold(double threshold) {
  const auto nearest = static_cast<float>(threshold);
  return static_cast<double>(nearest) > threshold ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                                                  : nearest;
}

}  // namespace argand
