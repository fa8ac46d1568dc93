// kernels/api/rows.h on the CPU.
#pragma once
#include "argand/kernels/api/rows.h"

namespace argand::cpu {

TakeRows take_rows;
PutRows put_rows;
AddRows add_rows;

}  // namespace argand::cpu
