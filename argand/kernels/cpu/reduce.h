// Reductions over some dimensions of a strided tensor.
#pragma once
#include "argand/base/small_vector.h"
#include "argand/core/dtype.h"

namespace argand::cpu {

// out (contiguous, shape without `dims`) = sum of in over `dims`; both of `dtype`.  The order of additions depends on the
// shape alone.
void sum(const void* in, IntArrayRef sizes, IntArrayRef strides, IntArrayRef dims, void* out, ScalarType dtype);

}  // namespace argand::cpu
