// Recurrent layers on the CPU (kernels/recurrence.h): a matrix product for each step, then its gates in one pass.
#pragma once
#include "argand/kernels/recurrence.h"

namespace argand::cpu {

void recurrence(const Recurrence& call, const RecurrenceForward& forward);
void recurrence_backward(const Recurrence& call, const RecurrenceBackward& backward);

}  // namespace argand::cpu
