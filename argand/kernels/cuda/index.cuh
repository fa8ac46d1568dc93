// Converts the number of an element to its position along each dimension.  The host fills in the values for kernels.
#pragma once

namespace argand {

// Division by a size that is known when the kernel is launched: a multiplication (Granlund and Montgomery, 1994).
// For numerators below 2^31.
struct FastDiv {
  unsigned divisor, factor, shift, unused;
};

#if !defined(__CUDACC_RTC__)

inline FastDiv fast_div(unsigned divisor) {
  FastDiv d{divisor, 0, 0, 0};
  while (d.shift < 32 && (1ull << d.shift) < divisor) ++d.shift;
  d.factor = static_cast<unsigned>((((1ull << d.shift) - divisor) << 32) / divisor + 1);
  return d;
}

#else

// q = n / size, and n becomes the remainder.
__device__ __forceinline__ unsigned split(unsigned& n, const FastDiv& d) {
  const unsigned q = (__umulhi(n, d.factor) + n) >> d.shift;
  n -= q * d.divisor;
  return q;
}
__device__ __forceinline__ unsigned long long split(unsigned long long& n, const FastDiv& d) {
  const unsigned long long size = d.divisor, q = n / size;
  n -= q * size;
  return q;
}

#endif

}  // namespace argand
