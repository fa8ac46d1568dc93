// Reads rows of a table by index and checks the indices in the same pass, for a device that can; a block of
// kernels/blocks.h.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// to[k] = from[index[k]] for k < n, rows of `row_bytes` of a table [rows, ...]; `index` is int32 or int64.  An index
// outside [0, rows) is reported as an IndexError of `op` at the next synchronisation, and row 0 is read.  Returns
// false, and does nothing, if a separate check is as fast.
using TakeCheckedRows = bool(const char* op, const void* from, int64_t rows, int64_t row_bytes, const void* index,
                             ScalarType index_type, int64_t n, void* to);

}  // namespace argand
