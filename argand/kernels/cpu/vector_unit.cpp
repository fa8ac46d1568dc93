#include "argand/kernels/cpu/vector_unit.h"

#include <algorithm>
#include <atomic>

#include "argand/base/env.h"

namespace argand::cpu {
namespace {

VectorUnit machine_unit() {
  VectorUnit unit = VectorUnit::kBaseline;
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) unit = VectorUnit::kAvx2;
  if (unit == VectorUnit::kAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    unit = VectorUnit::kAvx512;
#endif
  return unit;
}

VectorUnit initial_unit() {
  const auto wanted = env("ARGAND_VECTOR_UNIT");
  if (wanted == "baseline") return VectorUnit::kBaseline;
  if (wanted == "avx2") return std::min(machine_unit(), VectorUnit::kAvx2);
  return machine_unit();
}

std::atomic<VectorUnit>& current() {
  static std::atomic<VectorUnit> unit{initial_unit()};
  return unit;
}

}  // namespace

VectorUnit vector_unit() { return current().load(std::memory_order_relaxed); }

void set_vector_unit(VectorUnit unit) { current().store(std::min(unit, machine_unit()), std::memory_order_relaxed); }

}  // namespace argand::cpu
