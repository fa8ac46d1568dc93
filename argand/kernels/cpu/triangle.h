// kernels/api/triangle.h on the CPU.
#pragma once
#include "argand/kernels/api/triangle.h"

namespace argand::cpu {

ZeroOutside zero_outside;

}  // namespace argand::cpu
