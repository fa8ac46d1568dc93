// Sums of elements that meet at one position, where many meet: for other files of this folder.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cuda {

// Whether add_at_of_many() takes these, and is faster than to sort all elements by position.
bool many_meet(int64_t size, ScalarType type, int64_t n);

// blocks::add_at.  REQUIRES many_meet().
void add_at_of_many(void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n, const void* from,
                    int64_t* met);

}  // namespace argand::cuda
