#include "argand/kernels/cpu/random_blocks.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace argand::cpu {

namespace {

#if defined(__x86_64__)
#define ARGAND_AVX2 [[gnu::target("avx2,fma")]]
bool has_avx2() {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }();
  return has;
}
#else
#define ARGAND_AVX2
bool has_avx2() { return false; }
#endif

// Inlined into both versions of each loop.  The builtins are the instruction where there is one, else an exact
// function.
#define ARGAND_BODY [[gnu::always_inline]] inline

ARGAND_BODY float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ARGAND_BODY double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

ARGAND_BODY float fraction(uint32_t draw) {
  return static_cast<float>(static_cast<int32_t>(draw & 0xffffffu)) * 0x1p-24f;
}

// The lower 53 bits as a fraction.  Each half is put under an exponent that makes it an exact double, which vectorises
// where a conversion of 64-bit integers would not.
ARGAND_BODY double fraction(uint32_t high, uint32_t low) {
  const double upper = std::bit_cast<double>(0x4530000000000000u | (high & 0x1fffffu)) - 0x1p84;
  const double lower = std::bit_cast<double>(0x4330000000000000u | low) - 0x1p52;
  return (upper + lower) * 0x1p-53;
}

template <class T>
ARGAND_BODY T stretch(T fraction, T from, T range, T to) {
  const T x = fma(fraction, range, from);
  return x == to ? from : x;
}

ARGAND_BODY void uniform_float(const uint32_t* draws, size_t n, Interval<float> interval, float* out) {
  const float from = interval.from, to = interval.to, range = to - from;
  if (from == 0.0f && to == 1.0f) {
    for (size_t i = 0; i < n; ++i) out[i] = fraction(draws[i]);
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = stretch(fraction(draws[i]), from, range, to);
  }
}

ARGAND_BODY void uniform_double(const uint32_t* draws, size_t n, Interval<double> interval, double* out) {
  const double from = interval.from, to = interval.to, range = to - from;
  for (size_t i = 0; i < n; ++i) out[i] = stretch(fraction(draws[2 * i], draws[2 * i + 1]), from, range, to);
}

// Note [Cephes in single precision]
// PyTorch's normal samples come from the single-precision logarithm, sine and cosine of Moshier's Cephes library
// (logf.c, sinf.c): the polynomial coefficients and the split constants below are those of Cephes; a product and a sum
// are rounded together where PyTorch's build does so.  So the samples agree in every bit; with a more accurate
// logarithm they would not.

// log(x) for normal x in (0, 1].
ARGAND_BODY float log_cephes(float x) {
  constexpr float kSqrtHalf = 0.707106781186547524f;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const float mantissa = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);  // in [0.5, 1)
  const bool small = mantissa < kSqrtHalf;
  const float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126) - (small ? 1.0f : 0.0f);
  const float m = (mantissa - 1.0f) + (small ? mantissa : 0.0f);  // x = (1 + m) 2^exponent
  const float square = m * m;
  float p = 7.0376836292e-2f;
  p = fma(p, m, -1.1514610310e-1f);
  p = fma(p, m, 1.1676998740e-1f);
  p = fma(p, m, -1.2420140846e-1f);
  p = fma(p, m, 1.4249322787e-1f);
  p = fma(p, m, -1.6668057665e-1f);
  p = fma(p, m, 2.0000714765e-1f);
  p = fma(p, m, -2.4999993993e-1f);
  p = fma(p, m, 3.3333331174e-1f);
  p = fma(p * m, square, exponent * -2.12194440e-4f);  // the two constants add up to log 2
  p = fma(square, -0.5f, p);
  return fma(exponent, 0.693359375f, m + p);
}

struct SinCos {
  float sine, cosine;
};

// For x in [0, 2 pi].
ARGAND_BODY SinCos sincos_cephes(float x) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1;  // 4 / pi; rounded up to even
  const float y = static_cast<float>(octant);
  float r = fma(y, -0.78515625f, x);  // pi / 4 in three parts
  r = fma(y, -2.4187564849853515625e-4f, r);
  r = fma(y, -3.77489497744594108e-8f, r);
  const float square = r * r;
  float c = fma(2.443315711809948e-5f, square, -1.388731625493765e-3f);
  c = fma(c, square, 4.166664568298827e-2f);
  c = fma(c * square, square, square * -0.5f) + 1.0f;
  float s = fma(-1.9515295891e-4f, square, 8.3321608736e-3f);
  s = fma(s, square, -1.6666654611e-1f);
  s = fma(s * square, r, r);
  const bool swap = (octant & 2) != 0;
  const float sine = swap ? c : s;
  const float cosine = swap ? s : c;
  return {(octant & 4) != 0 ? -sine : sine, ((octant - 2) & 4) == 0 ? -cosine : cosine};
}

ARGAND_BODY void normal_float(float* values, size_t blocks, float mean, float std) {
  constexpr float kTwoPi = 2.0f * std::numbers::pi_v<float>;
  for (size_t b = 0; b < blocks; ++b) {
    float* lower = values + 16 * b;
    float* upper = lower + 8;
    for (int j = 0; j < 8; ++j) {
      const float radius = std::sqrt(-2.0f * log_cephes(1.0f - lower[j]));
      const SinCos angle = sincos_cephes(kTwoPi * upper[j]);
      lower[j] = fma(radius * angle.cosine, std, mean);
      upper[j] = fma(radius * angle.sine, std, mean);
    }
  }
}

ARGAND_AVX2 void uniform_float_avx2(const uint32_t* draws, size_t n, Interval<float> interval, float* out) {
  uniform_float(draws, n, interval, out);
}
ARGAND_AVX2 void uniform_double_avx2(const uint32_t* draws, size_t n, Interval<double> interval, double* out) {
  uniform_double(draws, n, interval, out);
}
ARGAND_AVX2 void normal_float_avx2(float* values, size_t blocks, float mean, float std) {
  normal_float(values, blocks, mean, std);
}

}  // namespace

namespace portable {

void to_uniform(const uint32_t* draws, size_t n, Interval<float> interval, float* out) {
  uniform_float(draws, n, interval, out);
}
void to_uniform(const uint32_t* draws, size_t n, Interval<double> interval, double* out) {
  uniform_double(draws, n, interval, out);
}
void to_normal(float* values, size_t blocks, float mean, float std) { normal_float(values, blocks, mean, std); }

}  // namespace portable

void to_uniform(const uint32_t* draws, size_t n, Interval<float> interval, float* out) {
  has_avx2() ? uniform_float_avx2(draws, n, interval, out) : portable::to_uniform(draws, n, interval, out);
}

void to_uniform(const uint32_t* draws, size_t n, Interval<double> interval, double* out) {
  has_avx2() ? uniform_double_avx2(draws, n, interval, out) : portable::to_uniform(draws, n, interval, out);
}

void to_normal(float* values, size_t blocks, float mean, float std) {
  has_avx2() ? normal_float_avx2(values, blocks, mean, std) : portable::to_normal(values, blocks, mean, std);
}

// The C library's functions, one by one, as PyTorch does.
void to_normal(double* values, size_t blocks, double mean, double std) {
  for (size_t b = 0; b < blocks; ++b) {
    double* lower = values + 16 * b;
    double* upper = lower + 8;
    for (size_t j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - lower[j]));
      const double angle = 2.0 * std::numbers::pi * upper[j];
      lower[j] = std::fma(radius * std::cos(angle), std, mean);
      upper[j] = std::fma(radius * std::sin(angle), std, mean);
    }
  }
}

}  // namespace argand::cpu
