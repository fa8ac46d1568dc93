// Elements that depend only on their positions: as in kernels/api/sequence.h.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

struct Sequence {
  enum Kind : int { kIntegers, kNumbers, kLine, kPowers };
  int kind;
  int64_t first, step;
  double start, end, by, base;
};

__device__ __forceinline__ double line_at(const Sequence& s, int64_t i, int64_t n) {
  return i < n / 2 || n == 1 ? s.start + s.by * static_cast<double>(i) : s.end - s.by * static_cast<double>(n - 1 - i);
}

// The GPU's pow() has an error of up to two units in the last place: a value that is this close to a whole number is
// rounded to it, before a conversion to an integer truncates the fraction.
__device__ __forceinline__ double whole_if_near(double x) {
  const double whole = rint(x);
  return fabs(x - whole) <= 4.45e-16 * fabs(whole) ? whole : x;
}

template <int kKind>
__device__ __forceinline__ auto element_of(const Sequence& s, int64_t i, int64_t n) {
  if constexpr (kKind == Sequence::kIntegers)
    return s.first + i * s.step;
  else if constexpr (kKind == Sequence::kNumbers)
    return s.start + static_cast<double>(i) * s.by;
  else if constexpr (kKind == Sequence::kLine)
    return line_at(s, i, n);
  else
    return math::pow(s.base, line_at(s, i, n));
}

template <class T, int kKind>
__global__ void fill_sequence(const __grid_constant__ Sequence s, T* out, int64_t n) {
  await_earlier_work();
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    const auto element = element_of<kKind>(s, i, n);
    if constexpr (kKind == Sequence::kPowers && !kHasFractions<T>)
      out[i] = convert<T>(whole_if_near(element));
    else
      out[i] = convert<T>(element);
  }
}

}  // namespace argand
