// Pointwise programs whose operands lie in different orders, as tensors with their channels first and last do.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

// Runs `program`, which is collapsed, in the order of its first result, and returns true; or false, having done
// nothing, if all its large operands lie that way or it is a mere copy.
bool run_in_one_order(const PointwiseProgram& program);

}  // namespace argand::exec
