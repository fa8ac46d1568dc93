// Copies of many tensors in few launches.
#pragma once
#include <cstddef>
#include <span>

#include "argand/core/tensor.h"

namespace argand::exec {

// So many tensors are copied one by one: a pointwise copy may be fused with what computes its source.
inline constexpr size_t kFewCopies = 3;

// to[i] = from[i] as copy_elements() does it, for equally many tensors of equal shapes.  Pairs of one dtype and one
// memory order without gaps are copied together: by one kernel on a device, and between two devices by copies whose
// streams wait for each other only once.  REQUIRES that no target overlaps another tensor of the lists.  Bumps no
// version.
void copy_each(std::span<const Tensor> to, std::span<const Tensor> from);

}  // namespace argand::exec
