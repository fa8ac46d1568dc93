// Elements that depend only on their positions.
#pragma once
#include "argand/kernels/api/sequence.h"

namespace argand::cpu {

FillSequence fill_sequence;

}  // namespace argand::cpu
