#include "argand/ops/index/bounds.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {

void check_index_dtype(const char* op, const Tensor& index) {
  ARGAND_CHECK(DtypeError, index.dtype() == kLong || index.dtype() == kInt, op,
               ": expected dtype int32/int64 for index, got ", index.dtype());
}

Tensor checked_index(const char* op, const Tensor& index, int64_t bound, int64_t dim, bool wrap) {
  Tensor t = exec::dense(index, kLong);
  const int64_t* p = raw<int64_t>(t);
  const int64_t n = t.numel();
  const int64_t least = wrap ? -bound : 0;
  bool bad = false, negative = false;
  for (int64_t i = 0; i < n; ++i) {
    bad |= p[i] < least || p[i] >= bound;
    negative |= p[i] < 0;
  }
  if (bad) {
    for (int64_t i = 0; i < n; ++i)
      ARGAND_CHECK(IndexError, p[i] >= least && p[i] < bound, op, ": index ", p[i], " is out of bounds for dimension ",
                   dim, " with size ", bound);
  }
  if (negative) {
    if (t.is_alias_of(index)) t = exec::dense_clone(t);
    int64_t* q = raw<int64_t>(t);
    for (int64_t i = 0; i < n; ++i) q[i] += q[i] < 0 ? bound : 0;
  }
  return t;
}

void check_has_data(const char* op, const Tensor& t) {
  ARGAND_CHECK(NotImplementedError, !t.is_meta(), op,
               ": the result's shape depends on data, which a meta tensor does not have");
}

}  // namespace argand::ops
