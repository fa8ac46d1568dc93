// Facts about values on a GPU that are known before any work has run.
#pragma once
#include "argand/core/tensor.h"

namespace argand::exec {

// Note [Known ones]
// A backward pass begins with a gradient of ones, which waits in the issue window like any pointwise result.  A
// gradient that asks here need not multiply by it; if nothing else reads it, it is freed before the window is issued,
// and is never written.  A hook, retain_grad() or create_graph sees the usual tensor: reading it issues the work, and
// after any other write the answer is false.
//
// Whether all elements of `t` will be 1, because the last write to it waits in the calling thread's window and fills it
// with ones.  False means that this is not known, and is the answer for every CPU tensor.
bool known_ones(const Tensor& t);

}  // namespace argand::exec
