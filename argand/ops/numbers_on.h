// Short lists of integers from a call's arguments, as vectors on its device.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// int64.  On a GPU, they are arguments of a kernel launch, so that nobody waits; long lists are copied.
Tensor numbers_on(const Device& device, IntArrayRef numbers);

}  // namespace argand::ops
