// Places of values in sorted rows.
#pragma once
#include "argand/core/dtype.h"

namespace argand::cpu {

struct SearchCall {
  const void* rows;      // of n elements each, in order
  const int64_t* order;  // the order of rows that are not: numbers of elements; or null
  const void* values;    // `count`; value i is looked for in row i / per_row
  ScalarType type;       // of both; any real one
  int64_t n, count, per_row;
  bool right;
  void* out;  // int64, or int32 if `out_int32`
  bool out_int32;
};

// For each value how many elements of its row come before it: those less than it, and with `right` its equals too.
// Comparisons with NaN are false, so NaN belongs at the end.
void search_sorted(const SearchCall& call);

}  // namespace argand::cpu
