// The widest vector unit of this machine for which loops are compiled.
#pragma once
#include <cstdint>

namespace argand::cpu {

// kAvx2: AVX2 and FMA.  kAvx512: F, BW, DQ and VL.
enum class VectorUnit : int8_t { kBaseline, kAvx2, kAvx512 };

// Determined once; ARGAND_VECTOR_UNIT=baseline|avx2|avx512 lowers it, for tests and measurements.
VectorUnit vector_unit();

// For tests: no wider than `unit` from now on, and no wider than the machine's.  Not while kernels run.
void set_vector_unit(VectorUnit unit);

}  // namespace argand::cpu
