// The same loop compiled for each vector unit gives the same bits, and those of one call at a time.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "argand/kernels/math.h"

#if defined(__x86_64__)
#define ARGAND_TEST_AVX2 [[gnu::target("avx2,fma")]]
#define ARGAND_TEST_AVX512 [[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]]
#endif

namespace argand::math {
namespace {

// One functor for each function, so that a loop over it is inlined whole into a function with a target.
// clang-format off
#define FUNCTIONS_OF_ONE(X)                                                                                          \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(tanh) X(sigmoid) X(log_sigmoid) X(log1p_exp) X(erf)     \
  X(erfc) X(gelu) X(gelu_tanh) X(gelu_tanh_derivative) X(normal_cdf) X(normal_pdf) X(sin) X(cos) X(tan) X(asin)      \
  X(acos) X(atan) X(sinh) X(cosh) X(asinh) X(acosh) X(atanh) X(sqrt) X(rsqrt) X(floor) X(ceil) X(round) X(trunc)     \
  X(abs) X(sign)
#define FUNCTIONS_OF_TWO(X) X(pow) X(atan2) X(hypot) X(min) X(max) X(logaddexp) X(copysign) X(remainder) X(floor_div)
// clang-format on

struct Names {
#define ONE(name)                                         \
  struct name##_ {                                        \
    template <class T>                                    \
    [[gnu::always_inline]] static inline T call(T x, T) { \
      return math::name(x);                               \
    }                                                     \
  };
#define TWO(name)                                           \
  struct name##_ {                                          \
    template <class T>                                      \
    [[gnu::always_inline]] static inline T call(T x, T y) { \
      return math::name(x, y);                              \
    }                                                       \
  };
  FUNCTIONS_OF_ONE(ONE)
  FUNCTIONS_OF_TWO(TWO)
};

template <class F, class T>
[[gnu::always_inline]] inline void loop(const T* __restrict x, const T* __restrict y, T* __restrict out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = F::call(x[i], y[i]);
}
template <class F, class T>
[[gnu::noinline]] T one(T x, T y) {
  return F::call(x, y);
}
template <class F, class T>
[[gnu::noinline]] void loop_baseline(const T* x, const T* y, T* out, size_t n) {
  loop<F>(x, y, out, n);
}
#if defined(__x86_64__)
template <class F, class T>
ARGAND_TEST_AVX2 void loop_avx2(const T* x, const T* y, T* out, size_t n) {
  loop<F>(x, y, out, n);
}
template <class F, class T>
ARGAND_TEST_AVX512 void loop_avx512(const T* x, const T* y, T* out, size_t n) {
  loop<F>(x, y, out, n);
}
#endif

template <class T>
std::vector<T> inputs(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out(3001);  // not a multiple of a vector
  std::uniform_real_distribution<T> uniform(-12, 12);
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t bits = random();
    if (i % 2)
      std::memcpy(&out[i], &bits, sizeof(T));
    else
      out[i] = uniform(random);
  }
  return out;
}

template <class F, class T>
void check(const char* name) {
  const std::vector<T> x = inputs<T>(1), y = inputs<T>(2);
  std::vector<T> expected(x.size()), got(x.size());
  for (size_t i = 0; i < x.size(); ++i) expected[i] = one<F>(x[i], y[i]);
  const auto compare = [&](const char* unit) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(expected[i]) && std::isnan(got[i])) continue;  // whose NaN it is depends on operand order
      ASSERT_EQ(std::memcmp(&expected[i], &got[i], sizeof(T)), 0)
          << name << " " << unit << " of " << x[i] << ", " << y[i] << ": " << got[i] << ", alone " << expected[i];
    }
  };
  loop_baseline<F>(x.data(), y.data(), got.data(), x.size());
  compare("baseline");
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loop_avx2<F>(x.data(), y.data(), got.data(), x.size());
    compare("avx2");
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    loop_avx512<F>(x.data(), y.data(), got.data(), x.size());
    compare("avx512");
  }
#endif
}

TEST(MathVector, FloatBitsAreTheSameInEveryVectorUnit) {
#define CHECK(name) check<Names::name##_, float>(#name);
  FUNCTIONS_OF_ONE(CHECK)
  FUNCTIONS_OF_TWO(CHECK)
#undef CHECK
}

TEST(MathVector, DoubleBitsAreTheSameInEveryVectorUnit) {
#define CHECK(name) check<Names::name##_, double>(#name);
  FUNCTIONS_OF_ONE(CHECK)
  FUNCTIONS_OF_TWO(CHECK)
#undef CHECK
}

}  // namespace
}  // namespace argand::math
