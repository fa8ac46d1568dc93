#include "argand/kernels/rejection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace argand {
namespace {

// Below 10 by the definition, from there on by a series of three terms.
TEST(Rejection, WhatStirlingsFormulaLacksOfAFactorial) {
  for (const double k : {0.0, 1.0, 5.0, 9.0, 10.0, 11.0, 20.0, 70.0, 300.0, 1e5}) {
    const long double n = k + 1, half_log = 0.5L * std::log(2 * std::acos(-1.0L));
    const long double exact = std::lgamma(n) - ((n - 0.5L) * std::log(n) - n + half_log);
    EXPECT_NEAR(stirling_error(k), static_cast<double>(exact), 2e-10 + 1e-15 * static_cast<double>(n * std::log(n)))
        << k;
  }
}

struct Source {
  std::mt19937_64 engine{5};
  double fraction() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(1 - fraction())) * std::cos(2 * std::acos(-1.0) * fraction()); }
};

// The mean and the variance of many samples, within 6 of their standard deviations.
template <class F>
void check_moments(F sample, double mean, double variance, const std::string& what) {
  Source source;
  constexpr int kSamples = 200000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double d = sample(source) - mean;
    sum += d, squares += d * d, fourth += d * d * d * d;
  }
  const double spread = std::sqrt((fourth / kSamples - variance * variance) / kSamples);
  EXPECT_NEAR(sum / kSamples, 0, 6 * std::sqrt(variance / kSamples)) << what;
  EXPECT_NEAR(squares / kSamples, variance, 6 * spread) << what;
}

TEST(Rejection, SamplesHaveTheMomentsOfTheirDistributions) {
  for (const double alpha : {0.3, 1.0, 2.5, 40.0})
    check_moments([&](Source& s) { return gamma_sample(s, alpha); }, alpha, alpha, "gamma " + std::to_string(alpha));
  for (const double rate : {0.4, 6.0, 10.0, 35.0, 900.0})
    check_moments([&](Source& s) { return poisson_sample(s, rate); }, rate, rate, "poisson " + std::to_string(rate));
  for (const double n : {9.0, 40.0, 400.0})
    for (const double p : {0.03, 0.4, 0.5, 0.93})
      check_moments([&](Source& s) { return binomial_sample(s, n, p); }, n * p, n * p * (1 - p),
                    "binomial " + std::to_string(n) + " " + std::to_string(p));
}

}  // namespace
}  // namespace argand
