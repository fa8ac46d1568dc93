// The initial contents of tensors that are made without values: arbitrary, or a conspicuous value if the program asks
// for reproducible bits.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// Whether this process fills such tensors; false at first.
bool fills_uninitialized();
void set_fills_uninitialized(bool on);

// If asked for, the elements of the storage of `t` from the `first`th on become NaN, the largest integer, or true.
void fill_uninitialized(const Tensor& t, int64_t first = 0);

}  // namespace argand::ops
