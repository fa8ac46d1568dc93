// Against the sum of the definition in long double, for lengths of every kind: powers of small radices, odd radices
// that work together with others, large primes, lengths that go through a convolution.
#include "argand/kernels/cpu/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace argand::cpu {
namespace {

using Exact = std::complex<long double>;

const int64_t kLengths[] = {1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,
                            18, 21, 22, 24, 25, 27, 28,  30,  33,  35,  36,  44,  49,  53,  55,  60,  63,
                            64, 66, 77, 91, 98, 99, 101, 103, 121, 128, 143, 154, 169, 202, 206, 210, 256};

template <class T>
std::vector<std::complex<T>> numbers(int64_t n) {
  std::vector<std::complex<T>> out;
  for (int64_t i = 0; i < n; ++i)
    out.emplace_back(static_cast<T>(i * 37 % 101) / 64 - 1, static_cast<T>(i * 53 % 89) / 64 - T(0.5));
  return out;
}

// exp(2 pi i k / n) for k < n; those of the length that was asked for last are kept.
const std::vector<Exact>& roots(int64_t n) {
  static std::vector<Exact> kept;
  if (static_cast<int64_t>(kept.size()) == n) return kept;
  kept.clear();
  for (int64_t k = 0; k < n; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / n;
    kept.emplace_back(std::cos(angle), std::sin(angle));
  }
  return kept;
}

// Element k of the transform of the line of n numbers x(0), x(1), ...
template <class F>
Exact element(int64_t n, int64_t k, bool forward, F x) {
  const std::vector<Exact>& root = roots(n);
  long double re = 0, im = 0;
  for (int64_t j = 0; j < n; ++j) {
    const Exact w = root[static_cast<size_t>(j * k % n)], v(x(j));
    const long double w_im = forward ? -w.imag() : w.imag();
    re += v.real() * w.real() - v.imag() * w_im;
    im += v.real() * w_im + v.imag() * w.real();
  }
  return {re, im};
}

template <class T>
void expect_near(std::complex<T> got, Exact expected, int64_t n, const std::string& where) {
  const long double limit = 8 * std::sqrt(static_cast<long double>(n)) * std::numeric_limits<T>::epsilon();
  ASSERT_LE(std::abs(Exact(got) - expected), limit) << where << ": got " << got << ", expected " << expected;
}

std::string text(const FourierShape& s, int64_t o, int64_t k, int64_t i) {
  return "n " + std::to_string(s.n) + " inner " + std::to_string(s.inner) + (s.forward ? " forward" : " inverse") +
         " at " + std::to_string(o) + " " + std::to_string(k) + " " + std::to_string(i);
}

// Few lines, and more than a block of them, side by side and one after the other.
std::vector<FourierShape> shapes(int64_t n, bool forward) {
  std::vector<FourierShape> out;
  for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {19, 1}, {1, 18}})
    out.push_back({outer, n, inner, forward, 0.75});
  return out;
}

template <class T>
constexpr ScalarType kReal = std::is_same_v<T, float> ? kFloat : kDouble;

template <class T>
class Fourier : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Fourier, Types);

TYPED_TEST(Fourier, OfComplexNumbers) {
  using T = TypeParam;
  for (const int64_t n : kLengths)
    for (const bool forward : {true, false})
      for (const FourierShape& s : shapes(n, forward)) {
        const auto x = numbers<T>(s.outer * n * s.inner);
        std::vector<std::complex<T>> y(x.size());
        fourier_complex(kReal<T>, s, x.data(), y.data());
        for (int64_t o = 0; o < s.outer; o += 9)
          for (int64_t i = 0; i < s.inner; i += 17)
            for (int64_t k = 0; k < n; ++k) {
              const auto at = [&](int64_t j) { return static_cast<size_t>((o * n + j) * s.inner + i); };
              const Exact expected = element(n, k, forward, [&](int64_t j) { return x[at(j)]; });
              expect_near(y[at(k)], expected * 0.75L, n, text(s, o, k, i));
            }
      }
}

TYPED_TEST(Fourier, OfRealNumbers) {
  using T = TypeParam;
  for (const int64_t n : kLengths)
    for (const FourierShape& s : shapes(n, true))
      for (const bool whole : {false, true}) {
        std::vector<T> x;
        for (const auto& v : numbers<T>(s.outer * n * s.inner)) x.push_back(v.real());
        const int64_t m = whole ? n : n / 2 + 1;
        std::vector<std::complex<T>> y(static_cast<size_t>(s.outer * m * s.inner));
        fourier_from_real(kReal<T>, s, whole, x.data(), y.data());
        for (int64_t o = 0; o < s.outer; o += 9)
          for (int64_t i = 0; i < s.inner; i += 17)
            for (int64_t k = 0; k < m; ++k) {
              const Exact expected =
                  element(n, k, true, [&](int64_t j) { return x[static_cast<size_t>((o * n + j) * s.inner + i)]; });
              expect_near(y[static_cast<size_t>((o * m + k) * s.inner + i)], expected * 0.75L, n, text(s, o, k, i));
            }
      }
}

TYPED_TEST(Fourier, ToRealNumbers) {
  using T = TypeParam;
  for (const int64_t n : kLengths)
    for (const FourierShape& s : shapes(n, false)) {
      const int64_t m = n / 2 + 1;
      const auto x = numbers<T>(s.outer * m * s.inner);
      std::vector<T> y(static_cast<size_t>(s.outer * n * s.inner));
      fourier_to_real(kReal<T>, s, x.data(), y.data());
      for (int64_t o = 0; o < s.outer; o += 9)
        for (int64_t i = 0; i < s.inner; i += 17)
          for (int64_t k = 0; k < n; ++k) {
            const Exact expected = element(n, k, false, [&](int64_t j) {
              const int64_t stored = std::min(j, n - j);
              const auto v = x[static_cast<size_t>((o * m + stored) * s.inner + i)];
              if (j == 0 || 2 * j == n) return std::complex<T>(v.real());
              return 2 * j < n ? v : std::conj(v);
            });
            const T got = y[static_cast<size_t>((o * n + k) * s.inner + i)];
            expect_near(std::complex<T>(got), Exact(expected.real() * 0.75L), n, text(s, o, k, i));
          }
    }
}

}  // namespace
}  // namespace argand::cpu
