// A pointwise program on device memory, run by the CPU: for what no GPU kernel is written for.
#pragma once
#include "argand/kernels/program.h"

namespace argand::exec {

// Waits for the current stream of the current device.
void run_on_host(PointwiseProgram program);

}  // namespace argand::exec
