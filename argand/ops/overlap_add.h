// Windows added up where they overlap: the reverse of Tensor::unfold.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// Windows [..., count, n], `step` apart, as [..., (count - 1) step + n].  There is at least one window.  Made of ops,
// so it has gradients; the sums are in a fixed order, and the memory needed is about twice that of the windows.
Tensor overlap_add(const Tensor& windows, int64_t step);

}  // namespace argand::ops
