// Sorting and selecting along the middle dimension of contiguous [outer, n, inner] elements of any real dtype.
//
// There is one order: ascending, NaN last (all NaN are equal), -0 equal to +0, and equal elements in the order of their
// positions.  Descending reverses the order of values and keeps that of equal elements.  So every result is unique, for
// any algorithm and any number of threads.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct SortRows {
  const void* in;
  ScalarType type;
  int64_t outer, n, inner;
};

// The first `count` <= n elements of each row in order, and their positions: [outer, count, inner] each.  `values` may
// be null.  O(n + count log count) for a small count, O(n) bytes of scratch per row otherwise.
using SortFirst = void(const SortRows& rows, int64_t count, bool descending, void* values, int64_t* indices);

enum class Pick : int8_t {
  kNth,        // the one of (zero-based) rank `nth`
  kMedian,     // the lower of the two in the middle; the first NaN if there is one
  kNanMedian,  // the lower of the two in the middle of those that are not NaN; NaN if there are none
  kMode,       // the smallest of the most frequent; its last position
};
// One element of each row, and its position: [outer, inner] each; n >= 1.
using RunPick = void(const SortRows& rows, Pick what, int64_t nth, void* values, int64_t* indices);

}  // namespace argand
