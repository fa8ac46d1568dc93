#include "argand/base/half_convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace argand {

namespace {

template <class From, class To>
[[gnu::always_inline]] inline void convert_each(const From* __restrict in, To* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = To(static_cast<float>(in[i]));
}

#if defined(__x86_64__)

bool has_avx2_f16c() {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports(
        "avx2");  // no processor has AVX2 without F16C, and Clang 14 cannot ask for the latter
  }();
  return has;
}

template <class From, class To>
[[gnu::target("avx2,f16c")]] void convert_avx2(const From* in, To* out, int64_t n) {
  convert_each(in, out, n);
}

template <>
[[gnu::target("avx2,f16c")]] void convert_avx2(const Half* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  convert_each(in + i, out + i, n - i);
}

template <>
[[gnu::target("avx2,f16c")]] void convert_avx2(const float* in, Half* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  convert_each(in + i, out + i, n - i);
}

#endif

template <class From, class To>
void dispatch(const From* in, To* out, int64_t n) {
#if defined(__x86_64__)
  if (has_avx2_f16c()) return convert_avx2(in, out, n);
#endif
  convert_each(in, out, n);
}

}  // namespace

void convert(const Half* in, float* out, int64_t n) { dispatch(in, out, n); }
void convert(const float* in, Half* out, int64_t n) { dispatch(in, out, n); }
void convert(const BFloat16* in, float* out, int64_t n) { dispatch(in, out, n); }
void convert(const float* in, BFloat16* out, int64_t n) { dispatch(in, out, n); }

}  // namespace argand
