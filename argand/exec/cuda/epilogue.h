// Note [Epilogues]: pointwise programs that kernels issued before can take over.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

enum class Activation { kNone, kRelu, kThresholdBackward };
// What an Epilogue can stand for, by the text of the body.
Activation activation_of(const PointwiseBody& body);

// Whether the last kernel on the current stream does the program now; false: nothing has happened.  `program` is
// collapsed and has elements; its result is moved if it may be.
bool becomes_epilogue(PointwiseProgram& program);

}  // namespace argand::exec
