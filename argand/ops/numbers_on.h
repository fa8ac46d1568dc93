// Short lists of whole numbers that a call was given, as vectors on its device.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// int64.  A GPU gets them with a launch, so that nobody waits; long lists are copied.
Tensor numbers_on(const Device& device, IntArrayRef numbers);

}  // namespace argand::ops
