#include "argand/kernels/cpu/check_index.h"

#include "argand/core/dispatch.h"

namespace argand::cpu {

bool check_range(const char* op, const int64_t* p, int64_t n, int64_t bound, int64_t dim, bool wrap, int64_t ignore) {
  const int64_t least = wrap ? -bound : 0;
  // The number that says that nothing is ignored is also what a NaN is as an index.
  const bool all_count = ignore == kNoIgnoredIndex;
  bool bad = false, negative = false;
  for (int64_t i = 0; i < n; ++i) {
    const bool counts = all_count || p[i] != ignore;
    bad |= counts && (p[i] < least || p[i] >= bound);
    negative |= counts && p[i] < 0;
  }
  if (bad) {
    for (int64_t i = 0; i < n; ++i)
      ARGAND_CHECK(IndexError, (!all_count && p[i] == ignore) || (p[i] >= least && p[i] < bound), op, ": index ", p[i],
                   " is out of bounds for dimension ", dim, " with size ", bound);
  }
  return negative;
}

void check_index(const char* op, const void* index, ScalarType type, int64_t n, int64_t bound, int64_t dim, bool wrap,
                 int64_t ignore, int64_t* out) {
  dispatch<dtype_bit(kInt) | dtype_bit(kLong) | dtype_bit(kByte)>(type, op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = static_cast<const T*>(index);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(p[i]);
  });
  if (!check_range(op, out, n, bound, dim, wrap, ignore)) return;
  for (int64_t i = 0; i < n; ++i) out[i] += out[i] < 0 && out[i] != ignore ? bound : 0;
}

}  // namespace argand::cpu
