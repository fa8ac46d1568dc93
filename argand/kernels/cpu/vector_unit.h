// The widest vector unit this machine has, of those there are loops for.
#pragma once
#include <cstdint>

namespace argand::cpu {

// kAvx2: AVX2 and FMA.  kAvx512: F, BW, DQ and VL.
enum class VectorUnit : int8_t { kBaseline, kAvx2, kAvx512 };

// Found once; ARGAND_VECTOR_UNIT=baseline|avx2|avx512 lowers it, for tests and measurements.
VectorUnit vector_unit();

// For tests: no wider than `unit` from now on, and no wider than the machine's.  Not while kernels run.
void set_vector_unit(VectorUnit unit);

}  // namespace argand::cpu
