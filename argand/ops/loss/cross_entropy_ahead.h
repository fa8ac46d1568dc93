// Cross entropy whose gradient is made with it: Note [Gradient of cross entropy ahead of time].
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// The mean or sum over rows of [N, C] logits, as _cross_entropy makes it, with its history, if that is the quicker way:
// large or few logits of a GPU that require grad.  Otherwise an undefined tensor, with nothing done or checked.
Tensor cross_entropy_ahead(const Tensor& logits, const Tensor& target, int64_t reduction, int64_t ignore_index,
                           bool wide);

}  // namespace argand::ops
