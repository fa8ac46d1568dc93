// Number arguments of an op in its gradient.
#pragma once
#include "argand/exec/invoke.h"

namespace argand::ops {

// A number in the place of an operand has the default dtype, and results computed from it alone are rounded to that.
// This returns the same number as a 0-dim float64 or complex128 tensor, which does not change the dtype of a gradient
// either.  Other tensors are returned as they are.
inline Tensor wide(const Tensor& t) { return t.impl().wrapped_number ? exec::alias(t) : t; }
inline Tensor wide_conj(const Tensor& t) { return t.is_complex() ? wide(t).conj() : t; }

}  // namespace argand::ops
