// Element types on the device and conversions between them, as the CPU converts: rounding to nearest even, to bool by
// x != 0.
#pragma once
#include "argand/kernels/math.h"

namespace argand {

using int64_t = long long;
using uint64_t = unsigned long long;

struct Half {
  unsigned short bits;
};
struct BFloat16 {
  unsigned short bits;
};

// Others are cut to whole numbers.
template <class T>
inline constexpr bool kHasFractions = false;
template <>
inline constexpr bool kHasFractions<double> = true;
template <>
inline constexpr bool kHasFractions<float> = true;
template <>
inline constexpr bool kHasFractions<Half> = true;
template <>
inline constexpr bool kHasFractions<BFloat16> = true;

__device__ __forceinline__ float to_float(Half h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
__device__ __forceinline__ float to_float(BFloat16 b) { return __uint_as_float(unsigned{b.bits} << 16); }

template <class To>
struct Convert {
  template <class From>
  static __device__ __forceinline__ To from(From x) {
    return static_cast<To>(x);
  }
  static __device__ __forceinline__ To from(Half x) { return static_cast<To>(to_float(x)); }
  static __device__ __forceinline__ To from(BFloat16 x) { return static_cast<To>(to_float(x)); }
};
template <>
struct Convert<bool> {
  template <class From>
  static __device__ __forceinline__ bool from(From x) {
    return x != From(0);
  }
  static __device__ __forceinline__ bool from(Half x) { return (x.bits & 0x7fff) != 0; }
  static __device__ __forceinline__ bool from(BFloat16 x) { return (x.bits & 0x7fff) != 0; }
};
template <>
struct Convert<Half> {
  static __device__ __forceinline__ Half from(Half x) { return x; }
  static __device__ __forceinline__ Half from(BFloat16 x) { return from(to_float(x)); }
  template <class From>
  static __device__ __forceinline__ Half from(From x) {
    Half h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(static_cast<float>(x)));
    return h;
  }
};
template <>
struct Convert<BFloat16> {
  static __device__ __forceinline__ BFloat16 from(BFloat16 x) { return x; }
  static __device__ __forceinline__ BFloat16 from(Half x) { return from(to_float(x)); }
  template <class From>
  static __device__ __forceinline__ BFloat16 from(From x) {
    BFloat16 b;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(static_cast<float>(x)));
    return b;
  }
};

template <class To, class From>
__device__ __forceinline__ To convert(From x) {
  return Convert<To>::from(x);
}

// The type sums and pointwise bodies of T are computed in.
template <class T>
struct OpMath {
  using type = T;
};
template <>
struct OpMath<Half> {
  using type = float;
};
template <>
struct OpMath<BFloat16> {
  using type = float;
};
template <class T>
using op_math_t = typename OpMath<T>::type;

// W neighbouring elements, loaded and stored as one access where W * sizeof(T) bytes are.
template <class T, int W>
struct alignas(sizeof(T) * W) Vec {
  T x[W];
  __device__ __forceinline__ T& operator[](int i) { return x[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return x[i]; }
};

// Elements [at, at + W), those from n on being left out: p + at is aligned to W elements.
template <int W, class T, class I>
__device__ __forceinline__ Vec<T, W> load(const T* p, I at, I n) {
  if (at + W <= n) return *reinterpret_cast<const Vec<T, W>*>(p + at);
  Vec<T, W> v{};
  for (int k = 0; k < W; ++k)
    if (at + k < n) v[k] = p[at + k];
  return v;
}
template <int W, class T, class I>
__device__ __forceinline__ void store(T* p, I at, I n, const Vec<T, W>& v) {
  if (at + W <= n) {
    *reinterpret_cast<Vec<T, W>*>(p + at) = v;
    return;
  }
  for (int k = 0; k < W; ++k)
    if (at + k < n) p[at + k] = v[k];
}

}  // namespace argand
