// The runner of pointwise programs on each device type: the tile interpreter on the CPU; a backend registers its own.
#pragma once
#include "argand/core/device.h"
#include "argand/kernels/program.h"

namespace argand::exec {

// Issues the program on the current stream of the current device.  It may modify the program, which must not be used
// again.
using ProgramRunner = void (*)(PointwiseProgram& program);

void register_program_runner(DeviceType type, ProgramRunner runner);
ProgramRunner program_runner(DeviceType type);

}  // namespace argand::exec
