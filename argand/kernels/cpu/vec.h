// Vectors of float and double for kernels that are compiled once per instruction set: argand::avx512::Vec<T>,
// argand::avx2::Vec<T> and argand::portable::Vec<T> have the same members.
//
// A kernel is written in a .inc file on `Vec<T>` with every function marked ARGAND_SIMD, and included once per
// instruction set by a .cpp that defines ARGAND_SIMD and opens the namespace.  Attributes rather than compiler flags
// per file, so that no inline function of a shared header is ever compiled for a newer machine.  Lambdas do not inherit
// the attribute: use none in a kernel.
//
// hold(v) keeps a loaded vector in a register: otherwise the compiler may load it again in each instruction that uses
// it, which is expensive if it spans two cache lines.
//
// A Mask selects lanes: first(n) the first n >= 0, from(m, n) those of m from lane n >= 0 on.  A masked load gives 0
// for the other lanes, and neither loads nor stores touch their memory.
#pragma once
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ARGAND_TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")))
#define ARGAND_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define ARGAND_ALWAYS_INLINE inline __attribute__((always_inline))

namespace argand {

#if defined(__x86_64__)
namespace avx512 {
#define ARGAND_VEC ARGAND_TARGET_AVX512 static ARGAND_ALWAYS_INLINE

template <class T>
struct Vec;

template <>
struct Vec<float> {
  using V = __m512;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  ARGAND_VEC V zero() { return _mm512_setzero_ps(); }
  ARGAND_VEC V broadcast(float x) { return _mm512_set1_ps(x); }
  ARGAND_VEC V load(const float* p) { return _mm512_loadu_ps(p); }
  ARGAND_VEC V load(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
  ARGAND_VEC void store(float* p, V v) { _mm512_storeu_ps(p, v); }
  ARGAND_VEC void store(float* p, V v, Mask m) { _mm512_mask_storeu_ps(p, m, v); }
  ARGAND_VEC V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  ARGAND_VEC void hold(V& v) { asm("" : "+v"(v)); }
  ARGAND_VEC Mask first(int64_t n) { return static_cast<Mask>(n >= kLanes ? 0xffffu : (1u << n) - 1u); }
  ARGAND_VEC Mask from(Mask m, int64_t n) { return static_cast<Mask>(m & ~first(n)); }
};

template <>
struct Vec<double> {
  using V = __m512d;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  ARGAND_VEC V zero() { return _mm512_setzero_pd(); }
  ARGAND_VEC V broadcast(double x) { return _mm512_set1_pd(x); }
  ARGAND_VEC V load(const double* p) { return _mm512_loadu_pd(p); }
  ARGAND_VEC V load(const double* p, Mask m) { return _mm512_maskz_loadu_pd(m, p); }
  ARGAND_VEC void store(double* p, V v) { _mm512_storeu_pd(p, v); }
  ARGAND_VEC void store(double* p, V v, Mask m) { _mm512_mask_storeu_pd(p, m, v); }
  ARGAND_VEC V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  ARGAND_VEC void hold(V& v) { asm("" : "+v"(v)); }
  ARGAND_VEC Mask first(int64_t n) { return static_cast<Mask>(n >= kLanes ? 0xffu : (1u << n) - 1u); }
  ARGAND_VEC Mask from(Mask m, int64_t n) { return static_cast<Mask>(m & ~first(n)); }
};
#undef ARGAND_VEC
}  // namespace avx512

namespace avx2 {
#define ARGAND_VEC ARGAND_TARGET_AVX2 static ARGAND_ALWAYS_INLINE

template <class T>
struct Vec;

template <>
struct Vec<float> {
  using V = __m256;
  using Mask = __m256i;
  static constexpr int kLanes = 8;
  ARGAND_VEC V zero() { return _mm256_setzero_ps(); }
  ARGAND_VEC V broadcast(float x) { return _mm256_set1_ps(x); }
  ARGAND_VEC V load(const float* p) { return _mm256_loadu_ps(p); }
  ARGAND_VEC V load(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
  ARGAND_VEC void store(float* p, V v) { _mm256_storeu_ps(p, v); }
  ARGAND_VEC void store(float* p, V v, Mask m) { _mm256_maskstore_ps(p, m, v); }
  ARGAND_VEC V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  ARGAND_VEC void hold(V& v) { asm("" : "+x"(v)); }
  ARGAND_VEC Mask first(int64_t n) {
    const int count = n >= kLanes ? kLanes : static_cast<int>(n);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  ARGAND_VEC Mask from(Mask m, int64_t n) { return _mm256_andnot_si256(first(n), m); }
};

template <>
struct Vec<double> {
  using V = __m256d;
  using Mask = __m256i;
  static constexpr int kLanes = 4;
  ARGAND_VEC V zero() { return _mm256_setzero_pd(); }
  ARGAND_VEC V broadcast(double x) { return _mm256_set1_pd(x); }
  ARGAND_VEC V load(const double* p) { return _mm256_loadu_pd(p); }
  ARGAND_VEC V load(const double* p, Mask m) { return _mm256_maskload_pd(p, m); }
  ARGAND_VEC void store(double* p, V v) { _mm256_storeu_pd(p, v); }
  ARGAND_VEC void store(double* p, V v, Mask m) { _mm256_maskstore_pd(p, m, v); }
  ARGAND_VEC V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  ARGAND_VEC void hold(V& v) { asm("" : "+x"(v)); }
  ARGAND_VEC Mask first(int64_t n) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)); }
  ARGAND_VEC Mask from(Mask m, int64_t n) { return _mm256_andnot_si256(first(n), m); }
};
#undef ARGAND_VEC
}  // namespace avx2
#endif

namespace portable {
#define ARGAND_VEC static ARGAND_ALWAYS_INLINE

// 16 bytes, which every 64-bit machine supports, by the compiler's vector extensions.
template <class T>
struct Vec {
  typedef T V __attribute__((vector_size(16)));
  struct Mask {
    int begin, end;
  };
  static constexpr int kLanes = 16 / sizeof(T);
  ARGAND_VEC V zero() { return V{}; }
  ARGAND_VEC V broadcast(T x) { return V{} + x; }
  ARGAND_VEC V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof(V));
    return v;
  }
  ARGAND_VEC V load(const T* p, Mask m) {
    V v{};
    for (int i = m.begin; i < m.end; ++i) v[i] = p[i];
    return v;
  }
  ARGAND_VEC void store(T* p, V v) { __builtin_memcpy(p, &v, sizeof(V)); }
  ARGAND_VEC void store(T* p, V v, Mask m) {
    for (int i = m.begin; i < m.end; ++i) p[i] = v[i];
  }
  ARGAND_VEC V fma(V a, V b, V c) {
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
    for (int i = 0; i < kLanes; ++i)
      c[i] = sizeof(T) == 4 ? static_cast<T>(__builtin_fmaf(static_cast<float>(a[i]), static_cast<float>(b[i]),
                                                            static_cast<float>(c[i])))
                            : static_cast<T>(__builtin_fma(a[i], b[i], c[i]));
    return c;
#else
    return a * b + c;
#endif
  }
  ARGAND_VEC void hold(V&) {}
  ARGAND_VEC Mask first(int64_t n) { return {0, n >= kLanes ? kLanes : static_cast<int>(n)}; }
  ARGAND_VEC Mask from(Mask m, int64_t n) { return {n >= kLanes ? kLanes : static_cast<int>(n), m.end}; }
};
#undef ARGAND_VEC
}  // namespace portable

}  // namespace argand
