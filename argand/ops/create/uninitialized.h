// What tensors hold that are made without values: anything, or, where a program asks for the same bits in every run of
// its mistakes, too, a value that is found out.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// Of the process; false at first.
bool fills_uninitialized();
void set_fills_uninitialized(bool on);

// If asked for, the elements of the storage of `t` from the `first`th on become NaN, the largest integer, or true.
void fill_uninitialized(const Tensor& t, int64_t first = 0);

}  // namespace argand::ops
