// Cross entropy that computes its gradient in the forward pass: Note [Gradient of cross entropy ahead of time].
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// The mean or sum over rows of [N, C] logits, as _cross_entropy computes it, recorded for backward.  Only if that is
// faster: for large or few logits on a GPU that require grad.  Otherwise returns an undefined tensor and does nothing.
Tensor cross_entropy_ahead(const Tensor& logits, const Tensor& target, int64_t reduction, int64_t ignore_index,
                           bool wide);

}  // namespace argand::ops
