// Tensors that are written while others read the same memory.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// ValueError if `out` and an argument of a call overlap partly: what the op reads would depend on what it has written.
// With `any`, also if they are the same elements, for ops that write some elements and read others.  Only dense tensors
// are compared, as in PyTorch.
// Tensor argument i is not compared if bit i of `unchecked` is set.
void check_overlap(PermanentName op, const Tensor& out, TensorSlots& arguments, uint32_t unchecked, bool any);

}  // namespace argand::exec
