// Pointwise programs whose operands lie in different orders, as tensors with their channels first and last do.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

// Runs `program`, which is collapsed, in the order of its first result.  Returns false, and does nothing, if all its
// large operands are in that order already or it is only a copy.
bool run_in_one_order(const PointwiseProgram& program);

}  // namespace argand::exec
