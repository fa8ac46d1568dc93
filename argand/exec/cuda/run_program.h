// How a GPU runs pointwise programs: as one kernel, compiled when its form is first met.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

void run_on_gpu(PointwiseProgram& program);

}  // namespace argand::exec
