// Rows of a contiguous [outer, rows, inner] block, selected by index.  The caller has checked that all are in [0,
// rows). Results are the same bits for any number of threads: a row's additions are done in the order of `index`, long
// sums in pieces.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct RowBlock {
  int64_t outer, rows, inner;
};

// to[o][k] = from[o][index[k]] for k < n; elements of `item_size` bytes.
using TakeRows = void(const void* from, const RowBlock& shape, int64_t item_size, const int64_t* index, int64_t n,
                      void* to);
// to[o][index[k]] = from[o][k]; among equal indices the last one wins.
using PutRows = void(void* to, const RowBlock& shape, int64_t item_size, const int64_t* index, int64_t n,
                     const void* from);
// to[o][index[k]] += from[o][k]; float16 and bfloat16 add in float32.
using AddRows = void(void* to, const RowBlock& shape, ScalarType type, const int64_t* index, int64_t n,
                     const void* from);

}  // namespace argand
