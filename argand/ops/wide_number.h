// Numbers among the arguments of an op, in its gradient.
#pragma once
#include "argand/exec/invoke.h"

namespace argand::ops {

// A number that stands for an operand counts as one of the default dtype, and what is computed from it alone is rounded
// to that.  This is the same number as a float64 or complex128 tensor without dimensions, which does not change the
// dtype of a gradient either.  Other tensors stay.
inline Tensor wide(const Tensor& t) { return t.impl().wrapped_number ? exec::alias(t) : t; }
inline Tensor wide_conj(const Tensor& t) { return t.is_complex() ? wide(t).conj() : t; }

}  // namespace argand::ops
