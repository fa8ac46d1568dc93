#include "argand/ops/index/bounds.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/blocks.h"
#include "argand/runtime/backend.h"

namespace argand::ops {

void check_index_dtype(const char* op, const Tensor& index) {
  ARGAND_CHECK(DtypeError, index.dtype() == kLong || index.dtype() == kInt, op,
               ": expected dtype int32/int64 for index, got ", index.dtype());
}

Tensor checked_index(const char* op, const Tensor& index, const Device& on, int64_t bound, int64_t dim, bool wrap) {
  if (index.is_cpu()) {
    Tensor t = exec::dense(index, kLong);
    if (cpu::check_range(op, raw<int64_t>(t), t.numel(), bound, dim, wrap)) {
      if (t.is_alias_of(index)) t = exec::dense_clone(t);
      int64_t* p = raw<int64_t>(t);
      for (int64_t i = 0; i < t.numel(); ++i) p[i] += p[i] < 0 ? bound : 0;
    }
    return beside(t, on);
  }
  const Tensor given = exec::dense(index), t = exec::new_tensor({given.impl().sizes, kLong}, index.device());
  blocks::check_index.on(on)(op, given.impl().data(), given.dtype(), given.numel(), bound, dim, wrap,
                             cpu::kNoIgnoredIndex, static_cast<int64_t*>(t.impl().data()));
  if (bound == 0 && t.numel() > 0) {  // no index is valid: what comes next must not run
    Backend& backend = backend_of(on.type());
    backend.synchronize(backend.current_stream(on.index()));
  }
  return t;
}

Tensor beside(const Tensor& t, const Device& on) {
  if (!t.defined() || t.device() == on) return t;
  const Tensor there = exec::new_tensor({t.impl().sizes, t.dtype()}, on);
  exec::copy_elements(there, t);
  return there;
}

void check_has_data(const char* op, const Tensor& t) {
  ARGAND_CHECK(NotImplementedError, !t.is_meta(), op,
               ": the result's shape depends on data, which a meta tensor does not have");
}

}  // namespace argand::ops
