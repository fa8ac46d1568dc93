// Note [Epilogues]: pointwise programs that kernels issued before can take over.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

// Makes the program part of the last kernel on the current stream if it can; false: nothing has changed.  `program` is
// collapsed and has elements; its result is moved if it may be.
bool becomes_epilogue(PointwiseProgram& program);

}  // namespace argand::exec
