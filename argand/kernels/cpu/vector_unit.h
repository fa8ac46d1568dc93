// The widest vector unit this machine has, of those there are loops for.
#pragma once
#include <cstdint>

namespace argand::cpu {

enum class VectorUnit : int8_t { kBaseline, kAvx2, kAvx512 };

// Found once; ARGAND_VECTOR_UNIT=baseline|avx2|avx512 lowers it, for tests and measurements.
VectorUnit vector_unit();

}  // namespace argand::cpu
