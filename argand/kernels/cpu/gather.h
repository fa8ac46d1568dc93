// Copies strided elements to and from contiguous memory.
#pragma once
#include "argand/base/small_vector.h"

namespace argand::cpu {

// Copies elements [first, first + n), counted in row-major order over `sizes`, of the strided `memory` to contiguous
// `to`.
void gather(const void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n,
            void* to);
// The reverse: from contiguous `from` to the strided `memory`.
void scatter(void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n,
             const void* from);

}  // namespace argand::cpu
