#include "argand/ops/operand.h"

namespace argand::ops {

void check_operand(const char* op, const char* name, const Tensor& t, const Dims& expected, ScalarType dtype) {
  ARGAND_CHECK(ShapeError, t.sizes() == IntArrayRef(expected), op, ": expected ", name, " of shape ", expected,
               ", got ", t.sizes());
  ARGAND_CHECK(DtypeError, t.dtype() == dtype, op, ": expected ", name, " of dtype ", dtype, ", got ", t.dtype());
}

StagedResult::StagedResult(const Tensor& out, bool wanted, ScalarType type) : out_(out) {
  if (wanted)
    staged_ =
        out.dtype() == type && out.is_contiguous() ? out : exec::new_tensor({out.impl().sizes, type}, out.device());
}

void StagedResult::finish() const {
  if (staged_.defined() && !staged_.is_same(out_)) exec::copy_elements(out_, staged_);
}

}  // namespace argand::ops
