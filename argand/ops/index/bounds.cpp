#include "argand/ops/index/bounds.h"

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/check_index.h"
#include "argand/runtime/backend.h"

namespace argand::ops {

void check_index_dtype(const char* op, const Tensor& index) {
  ARGAND_CHECK(DtypeError, index.dtype() == kLong || index.dtype() == kInt, op,
               ": expected dtype int32/int64 for index, got ", index.dtype());
}

Tensor checked_index(const char* op, const Tensor& index, int64_t bound, int64_t dim, bool wrap) {
  // PyTorch's message for indices into an empty tensor.
  ARGAND_CHECK(IndexError, !wrap || bound != 0 || index.numel() == 0, op,
               ": index is out of bounds for dimension with size 0");
  if (index.is_cpu()) {
    Tensor t = exec::dense(index, kLong);
    if (cpu::check_range(op, raw<int64_t>(t), t.numel(), bound, dim, wrap)) {
      if (t.is_alias_of(index)) t = exec::dense_clone(t);
      int64_t* p = raw<int64_t>(t);
      for (int64_t i = 0; i < t.numel(); ++i) p[i] += p[i] < 0 ? bound : 0;
    }
    return t;
  }
  return checked_on_device(op, index, bound, dim, wrap, kNoIgnoredIndex);
}

Tensor checked_on_device(const char* op, const Tensor& index, int64_t bound, int64_t dim, bool wrap, int64_t ignored) {
  const bool is_taken = index.dtype() == kLong || index.dtype() == kInt;
  const Tensor given = is_taken ? exec::dense(index) : exec::dense(index, kLong);
  const Tensor t = exec::new_tensor({given.impl().sizes, kLong}, index.device());
  if (!blocks::check_index.has(t.device().type())) {
    const Tensor host = exec::new_tensor({given.impl().sizes, given.dtype()}, kCPU);
    exec::copy_elements(host, given);
    exec::copy_elements(t, checked_on_device(op, host, bound, dim, wrap, ignored));
    return t;
  }
  blocks::check_index.on(t.device())(op, given.impl().data(), given.dtype(), given.numel(), bound, dim, wrap, ignored,
                                     static_cast<int64_t*>(t.impl().data()));
  if (t.is_accelerator() && bound == 0 && t.numel() > 0) {  // no index is valid: the kernel must not run
    Backend& backend = backend_of(t.device().type());
    backend.synchronize(backend.current_stream(t.device().index()));
  }
  return t;
}

void check_has_data(const char* op, const Tensor& t) {
  ARGAND_CHECK(NotImplementedError, !t.is_meta(), op,
               ": the result's shape depends on data, which a meta tensor does not have");
}

}  // namespace argand::ops
