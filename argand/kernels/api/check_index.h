// Index tensors as int64 within their bounds.
#pragma once
#include <cstdint>
#include <limits>

#include "argand/core/dtype.h"

namespace argand {

// As `ignore`: no index is exempt from the check.
inline constexpr int64_t kNoIgnoredIndex = std::numeric_limits<int64_t>::min();

// Converts n indices (int32, int64 or uint8) into dimension `dim` of size `bound` to int64; with `wrap`, negative ones
// count from the end.  `out` may be `index`.  IndexError, which names op and index, for the first that is neither in
// [0, bound) nor, with `wrap`, in [-bound, 0); those equal to `ignore` pass.  A GPU reports a bad index at the next
// synchronisation, and gives 0 for it.
using CheckIndex = void(const char* op, const void* index, ScalarType type, int64_t n, int64_t bound, int64_t dim,
                        bool wrap, int64_t ignore, int64_t* out);

}  // namespace argand
