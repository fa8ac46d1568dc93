// Positions of values in sorted rows.
#pragma once
#include "argand/core/dtype.h"

namespace argand {

struct SearchCall {
  const void* rows;      // of n elements each, in order
  const int64_t* order;  // for unsorted rows, the indices that sort them; or null
  const void* values;    // `count`; value i is looked for in row i / per_row
  ScalarType type;       // of both; any real one
  int64_t n, count, per_row;
  bool right;
  void* out;  // int64, or int32 if `out_int32`
  bool out_int32;
};

// For each value, the number of elements of its row that come before it: smaller ones, and with `right` equal ones too.
// Comparisons with NaN are false, so NaN belongs at the end.
using SearchSorted = void(const SearchCall& call);

}  // namespace argand
