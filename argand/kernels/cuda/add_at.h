// Sums of elements that meet at one position, by tiles: for other files of this folder.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cuda {

// Whether add_at_in_tiles() takes these, and is faster than to sort all elements by position: there are about as many
// elements as positions, or more.
bool adds_in_tiles(int64_t size, ScalarType type, int64_t n);

// blocks::add_at.  REQUIRES adds_in_tiles().
void add_at_in_tiles(void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n, const void* from,
                     int64_t* met);

}  // namespace argand::cuda
