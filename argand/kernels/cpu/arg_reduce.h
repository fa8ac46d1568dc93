// kernels/api/arg_reduce.h on the CPU.
#pragma once
#include "argand/kernels/api/arg_reduce.h"

namespace argand::cpu {

RunArgExtreme arg_extreme;

}  // namespace argand::cpu
