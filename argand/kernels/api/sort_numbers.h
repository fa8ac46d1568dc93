// Sorting whole numbers of few bits: blocks::sort_numbers.
#pragma once
#include <cstdint>

namespace argand {

// The numbers in order, and their positions, those of equal numbers in order too.  All numbers are from 0 to
// 2^bits - 1; 0 < n < 2^31, 0 < bits <= 32.  The time grows with bits.
using SortNumbers = void(const int64_t* in, int64_t n, int bits, uint32_t* numbers, uint32_t* positions);

}  // namespace argand
