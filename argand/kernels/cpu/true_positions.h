// kernels/api/true_positions.h on the CPU.
#pragma once
#include "argand/kernels/api/true_positions.h"

namespace argand::cpu {

FindTruePositions true_positions;

}  // namespace argand::cpu
