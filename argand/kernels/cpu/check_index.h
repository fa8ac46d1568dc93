// Index tensors as int64 within their bounds.
#pragma once
#include <cstdint>
#include <limits>

#include "argand/core/dtype.h"

namespace argand::cpu {

// As `ignore`: no index is exempt from the check.
inline constexpr int64_t kNoIgnoredIndex = std::numeric_limits<int64_t>::min();

// Checks n indices into dimension `dim` of size `bound`.  IndexError, which names op and index, for the first that is
// neither in [0, bound) nor, with `wrap`, in [-bound, 0); those equal to `ignore` pass.  Returns whether any of them is
// negative and must be wrapped.
bool check_range(const char* op, const int64_t* index, int64_t n, int64_t bound, int64_t dim, bool wrap,
                 int64_t ignore = kNoIgnoredIndex);

// Converts them (int32, int64 or uint8) to int64, negative ones counted from the end with `wrap`; checked as above.
// `out` may be `index`.  A GPU reports a bad index at the next synchronisation, and gives 0 for it.
void check_index(const char* op, const void* index, ScalarType type, int64_t n, int64_t bound, int64_t dim, bool wrap,
                 int64_t ignore, int64_t* out);

}  // namespace argand::cpu
