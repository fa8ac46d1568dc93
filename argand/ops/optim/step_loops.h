// Loops over one flat run of parameters, compiled for the vector units there are.  Float types compute in float or
// double; Half and BFloat16 in float.
#pragma once
#include "argand/ops/pointwise_loops.h"

namespace argand::ops {

// Runs `body(i)` for i in [begin, end), vectorised for this machine; the body must be inlinable and independent per i.
// The body is copied: through a reference the compiler would have to read its pointers anew after every store.
template <class Body>
[[gnu::always_inline]] inline void run_elements(const Body body, int64_t begin, int64_t end) {
  ARGAND_IVDEP
  for (int64_t i = begin; i < end; ++i) body(i);
}

#if ARGAND_ISA_VARIANTS
template <class Body>
ARGAND_TARGET_AVX512 void run_elements_avx512(const Body& body, int64_t begin, int64_t end) {
  run_elements(body, begin, end);
}
template <class Body>
ARGAND_TARGET_AVX2 void run_elements_avx2(const Body& body, int64_t begin, int64_t end) {
  run_elements(body, begin, end);
}
#endif

template <class Body>
void vectorized(const Body& body, int64_t begin, int64_t end) {
#if ARGAND_ISA_VARIANTS
  switch (cpu::vector_unit()) {
    case cpu::VectorUnit::kAvx512:
      return run_elements_avx512(body, begin, end);
    case cpu::VectorUnit::kAvx2:
      return run_elements_avx2(body, begin, end);
    default:
      break;
  }
#endif
  run_elements(body, begin, end);
}

}  // namespace argand::ops
