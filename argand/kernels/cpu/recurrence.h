// Recurrent layers on the CPU (kernels/api/recurrence.h): a matrix product for each step, then its gates in one pass.
#pragma once
#include "argand/kernels/api/recurrence.h"

namespace argand::cpu {

RunRecurrence recurrence;
RunRecurrenceBackward recurrence_backward;

}  // namespace argand::cpu
