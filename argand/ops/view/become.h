// A tensor that becomes a view of itself: squeeze_, transpose_, as_strided_.
#pragma once
#include "argand/base/permanent_name.h"
#include "argand/core/tensor.h"

namespace argand::ops {

// No element moves: `self` gets the sizes, strides and offset of `view`, a view of it, and its history.  GradError if
// that would lose gradients, or if it is an inference tensor outside of inference mode.
Tensor become(PermanentName op, const Tensor& self, const Tensor& view);

}  // namespace argand::ops
