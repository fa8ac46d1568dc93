// From the number of an element to its place along each dimension.
#pragma once

namespace argand {

// Division by a size that is known when the kernel is launched: a multiplication (Granlund and Montgomery, 1994).
// For numerators below 2^31.
struct FastDiv {
  unsigned divisor, factor, shift, unused;
  __device__ __forceinline__ unsigned divide(unsigned n) const { return (__umulhi(n, factor) + n) >> shift; }
};

// q = n / size, and n becomes the remainder.
__device__ __forceinline__ unsigned split(unsigned& n, const FastDiv& d) {
  const unsigned q = d.divide(n);
  n -= q * d.divisor;
  return q;
}
__device__ __forceinline__ unsigned long long split(unsigned long long& n, const FastDiv& d) {
  const unsigned long long size = d.divisor, q = n / size;
  n -= q * size;
  return q;
}

}  // namespace argand
