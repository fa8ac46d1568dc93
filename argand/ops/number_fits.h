// Whether a number can be written into a tensor of some dtype.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// False for an imaginary part where there is none, NaN and infinities where there are integers, and what lies beyond
// the dtype's range.  Negative integers count as those that wrap around to uint8.
bool number_fits(const Scalar& value, ScalarType dtype);

// ValueError for a number that does not fit.
void check_fits(const char* op, const Scalar& value, ScalarType dtype);
// The same of a number that stands for a tensor; other tensors are converted as tensors are.
void check_fits(const char* op, const Tensor& value, ScalarType dtype);

}  // namespace argand::ops
