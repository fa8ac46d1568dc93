// For `out=` of arange.
#pragma once
#include "argand/base/log.h"
#include "argand/core/tensor.h"

namespace argand::ops {

// Warns if `out` has elements, but not as many as there are: a step that is rounded may give one more or less than
// whoever made `out` expects.
inline void warn_of_length(const Tensor& out, const Tensor& made) {
  if (out.numel() == 0 || out.numel() == made.numel()) return;
  warn("The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(),
       " which does not match the computed number of elements ", made.numel(),
       ". Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape ",
       made.sizes(), ".");
}

}  // namespace argand::ops
