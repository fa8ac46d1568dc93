// Copies between two orders of dimensions.
#pragma once
#include "argand/base/small_vector.h"

namespace argand::cpu {

// Copies `from` to `to`, both of `sizes`, if a dimension that is dense in one and another that is dense in the other
// make a transpose of whole vectors of elements of 4 or 8 bytes.  Otherwise returns false and does nothing.
bool copy_transposed(IntArrayRef sizes, int64_t item_size, const void* from, IntArrayRef from_strides, void* to,
                     IntArrayRef to_strides);

}  // namespace argand::cpu
