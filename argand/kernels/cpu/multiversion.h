// One loop, compiled for each vector unit and chosen at run time.
//
// A body is a struct with a static, always inlined `run` of plain loops; on_vector_unit<Body>(args...) calls the copy
// that was compiled for the widest unit of this machine.  What `run` calls must be inlined into it to be compiled for
// that unit (ARGAND_INLINE; lambdas do not inherit the target).  Contraction is off and the order of operations stands
// in the source, so all copies give the same bits.
#pragma once
#include "argand/kernels/cpu/vector_unit.h"

#define ARGAND_INLINE [[gnu::always_inline]] inline

// Put it before a loop whose iterations do not depend on each other.  Clang's assume_safety would assert this of the
// compiler's own temporaries too: at -O1 they are still in memory, and sums of complex numbers lost their imaginary
// parts (Clang 15 and 16).
#if defined(__clang__)
#define ARGAND_VECTORIZE _Pragma("clang loop vectorize(enable)")
#else
#define ARGAND_VECTORIZE _Pragma("GCC ivdep")
#endif

// A sanitizer build has only one copy: all copies read and write the same addresses, and compiling them takes minutes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(ARGAND_SANITIZED)
#define ARGAND_COMPILE_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define ARGAND_COMPILE_AVX512_FEATURES "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd"
#if defined(__clang__)  // Clang has no option for the preferred width
#define ARGAND_COMPILE_AVX512 __attribute__((target(ARGAND_COMPILE_AVX512_FEATURES)))
#else
#define ARGAND_COMPILE_AVX512 __attribute__((target(ARGAND_COMPILE_AVX512_FEATURES ",prefer-vector-width=512")))
#endif
#endif

namespace argand::cpu {

#if defined(ARGAND_COMPILE_AVX2)
template <class Body, class... Args>
ARGAND_COMPILE_AVX512 auto run_avx512(Args... args) {
  return Body::run(args...);
}
template <class Body, class... Args>
ARGAND_COMPILE_AVX2 auto run_avx2(Args... args) {
  return Body::run(args...);
}
template <class Body, class... Args>
auto on_vector_unit(Args... args) {
  switch (vector_unit()) {
    case VectorUnit::kAvx512:
      return run_avx512<Body, Args...>(args...);
    case VectorUnit::kAvx2:
      return run_avx2<Body, Args...>(args...);
    default:
      return Body::run(args...);
  }
}
#else
template <class Body, class... Args>
auto on_vector_unit(Args... args) {
  return Body::run(args...);
}
#endif

}  // namespace argand::cpu
