// kernels/api/sort.h on the CPU.
#pragma once
#include "argand/kernels/api/sort.h"

namespace argand::cpu {

SortFirst sort_first;
RunPick pick;

}  // namespace argand::cpu
