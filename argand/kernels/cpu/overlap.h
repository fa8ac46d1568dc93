// kernels/api/overlap.h on the CPU.
#pragma once
#include "argand/kernels/api/overlap.h"

namespace argand::cpu {

KeepApart keep_apart;

}  // namespace argand::cpu
