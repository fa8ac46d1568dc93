// Whether a number can be written into a tensor of some dtype.
#pragma once
#include <optional>

#include "argand/core/tensor.h"

namespace argand::ops {

// False for an imaginary part with a real dtype, NaN and infinities with an integer dtype, and values beyond the
// dtype's range.  For uint8, negative integers count as those that they wrap around to.
bool number_fits(const Scalar& value, ScalarType dtype);

// ValueError for a number that does not fit.
void check_fits(const char* op, const Scalar& value, ScalarType dtype);
// The same for a number that stands for a tensor; other tensors are converted as usual.
void check_fits(const char* op, const Tensor& value, ScalarType dtype);

// The dtype that a number must fit where it is written to elements of this dtype whose half precision may overflow: a
// mask of -1e9 is -inf there.
constexpr ScalarType overflowing_type(ScalarType t) { return op_math_type(t) == t ? t : kDouble; }

// ValueError for limits that elements of this dtype cannot become: a lower limit above all numbers of an integer dtype,
// an upper limit below them, or one that a floating-point dtype does not hold.  A missing limit is not checked.
void check_limits_fit(const char* op, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
                      ScalarType dtype);

}  // namespace argand::ops
