// kernels/api/check_index.h on the CPU.
#pragma once
#include "argand/kernels/api/check_index.h"

namespace argand::cpu {

CheckIndex check_index;
// The same check without the conversion.  Returns whether any index is negative and must be wrapped.
bool check_range(const char* op, const int64_t* index, int64_t n, int64_t bound, int64_t dim, bool wrap,
                 int64_t ignore = kNoIgnoredIndex);

}  // namespace argand::cpu
