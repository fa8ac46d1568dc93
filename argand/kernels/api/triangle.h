// Triangles of matrices.
#pragma once
#include <cstdint>

namespace argand {

struct Matrices {
  int64_t count, rows, columns;  // contiguous, rows varying slower
};

// Zeroes the elements of `item_size` bytes outside a triangle, which holds those with column - row <= diagonal (lower)
// or >= diagonal (upper).
using ZeroOutside = void(void* matrices, const Matrices& shape, int64_t item_size, int64_t diagonal, bool lower);

}  // namespace argand
