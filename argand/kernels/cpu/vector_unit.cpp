#include "argand/kernels/cpu/vector_unit.h"

#include <algorithm>

#include "argand/base/env.h"

namespace argand::cpu {

static VectorUnit detect() {
  VectorUnit unit = VectorUnit::kBaseline;
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) unit = VectorUnit::kAvx2;
  if (unit == VectorUnit::kAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    unit = VectorUnit::kAvx512;
#endif
  const auto wanted = env("ARGAND_VECTOR_UNIT");
  if (wanted == "baseline") return VectorUnit::kBaseline;
  if (wanted == "avx2") return std::min(unit, VectorUnit::kAvx2);
  return unit;
}

VectorUnit vector_unit() {
  static const VectorUnit unit = detect();
  return unit;
}

}  // namespace argand::cpu
