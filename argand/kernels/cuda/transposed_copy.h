// Copies between layouts whose fastest dimensions differ.
#pragma once
#include "argand/kernels/program.h"

namespace argand::cuda {

// Issues `program`, which is collapsed, as tiles through shared memory.  Returns false, and does nothing, if it is no
// such copy or too narrow to gain from it.
bool transposed_copy(const PointwiseProgram& program);

}  // namespace argand::cuda
