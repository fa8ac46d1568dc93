// What is known of values on a GPU before anything has run.
#pragma once
#include "argand/core/tensor.h"

namespace argand::exec {

// Note [Known ones]
// A backward pass begins with a gradient of ones, which waits in the issue window like any pointwise result.  A
// gradient that asks here need not multiply by it; if nothing else reads it, it is gone before the window is issued,
// and is never written at all.  A hook, retain_grad() or create_graph sees the same tensor as ever: whatever reads it
// issues it, and after any other write the answer is false.
//
// Whether all elements of `t` will be 1, as the last write to it waits in the calling thread's window and fills it with
// that.  False says nothing, and is the answer for every tensor of the CPU.
bool known_ones(const Tensor& t);

}  // namespace argand::exec
