// Elements that depend only on their positions.
#pragma once
#include "argand/core/dtype.h"
#include "argand/kernels/sequence.h"

namespace argand::cpu {

// Fills `n` contiguous elements of any dtype with numbers that are computed in int64 or double and rounded once.
void fill_sequence(const Sequence& sequence, ScalarType type, void* out, int64_t n);

}  // namespace argand::cpu
