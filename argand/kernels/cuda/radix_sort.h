// Sorts long rows, for other files of this folder.
#pragma once
#include "argand/kernels/api/sort.h"

namespace argand::cuda {

// cpu::sort_first() for rows with inner == 1 and n <= kMostRadixElements, by sorting them all.
inline constexpr int64_t kMostRadixElements = (int64_t{1} << 32) - (1 << 16);
void radix_sort(const SortRows& rows, int64_t count, bool descending, void* values, int64_t* indices);

// The `n` numbers of `in`, all of them from 0 to 2^32 - 1, in the order of their `bits` bits from `first_bit` on, and
// their positions, equal ones in order too; or in place of the positions `companions`, which has one for each number.
// 0 < n < 2^31, 0 < bits.  Everything is in device memory.
void radix_sort(const int64_t* in, const unsigned* companions, int64_t n, int first_bit, int bits, unsigned* values,
                unsigned* order);

}  // namespace argand::cuda
