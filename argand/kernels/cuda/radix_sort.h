// Sorting long rows, for other files of this folder.
#pragma once
#include "argand/kernels/cpu/sort.h"

namespace argand::cuda {

// cpu::sort_first() for rows with inner == 1 and n <= kMostRadixElements, by sorting them all.
inline constexpr int64_t kMostRadixElements = (int64_t{1} << 32) - (1 << 16);
void radix_sort(const cpu::SortRows& rows, int64_t count, bool descending, void* values, int64_t* indices);

}  // namespace argand::cuda
