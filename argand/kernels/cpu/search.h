// kernels/api/search.h on the CPU.
#pragma once
#include "argand/kernels/api/search.h"

namespace argand::cpu {

SearchSorted search_sorted;

}  // namespace argand::cpu
