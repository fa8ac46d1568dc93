// Samples whose number of draws is itself random: gamma, Poisson, binomial.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "argand/kernels/cpu/random.h"
#include "argand/kernels/cpu/random_draws.h"
#include "argand/kernels/math/gamma.h"

namespace argand::cpu {

namespace {

double gamma_sample(CpuGeneratorImpl& gen, double alpha) {
  if (!(alpha >= 0)) return std::numeric_limits<double>::quiet_NaN();  // which no draw would be taken for
  double scale = 1;
  if (alpha < 1) {  // a gamma variable of alpha + 1 times u^(1 / alpha)
    if (alpha == 0) return 0;
    scale = std::pow(1 - fraction(gen), 1 / alpha);
    alpha += 1;
  }
  // The third as PyTorch rounds it, for the same numbers.
  const double d = alpha - static_cast<double>(1.0f / 3), c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, root;
    do {
      x = standard_normal(gen);
      root = 1 + c * x;
    } while (root <= 0);
    const double v = root * root * root, u = 1 - fraction(gen), x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

// What both transformed rejections draw: a point, and its image k; `inside` if it is in the region where all are taken.
struct Candidate {
  double k, v, us;
  bool inside;
};
Candidate candidate(CpuGeneratorImpl& gen, double a, double b, double center, double vr) {
  const double u = fraction(gen) - 0.5, v = fraction(gen), us = 0.5 - std::abs(u);
  return {std::floor((2 * a / us + b) * u + center), v, us, us >= 0.07 && v <= vr};
}

double poisson_sample(CpuGeneratorImpl& gen, double rate) {
  if (rate < 10) {
    if (rate == 0) return 0;
    const double bound = std::exp(-rate);
    double k = 0;
    for (double product = fraction(gen); product > bound; product *= fraction(gen)) ++k;
    return k;
  }
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4)), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const Candidate c = candidate(gen, a, b, rate + 0.43, vr);
    if (c.inside) return c.k;
    if (c.k < 0 || (c.us < 0.013 && c.v > c.us)) continue;
    if (std::log(c.v) + log_inverse_alpha - std::log(a / (c.us * c.us) + b) <=
        -rate + c.k * log_rate - math::lgamma(c.k + 1))
      return c.k;
  }
}

// log k! less Stirling's formula for it.
double stirling_error(double k) {
  if (k <= 9)
    return math::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * std::numbers::pi));
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double binomial_by_rejection(CpuGeneratorImpl& gen, double count, double p) {
  const double stddev = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * stddev, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double vr = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * stddev;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const Candidate c = candidate(gen, a, b, count * p + 0.5, vr);
    if (c.inside) return c.k;
    if (c.k < 0 || c.k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - c.k + 1)) +
                         (c.k + 0.5) * std::log(odds * (count - c.k + 1) / (c.k + 1)) + stirling_error(mode) +
                         stirling_error(count - mode) - stirling_error(c.k) - stirling_error(count - c.k);
    if (std::log(c.v * alpha / (a / (c.us * c.us) + b)) <= bound) return c.k;
  }
}

double binomial_by_waiting(CpuGeneratorImpl& gen, double count, double p) {
  const double log_failure = std::log1p(-p);
  double successes = 0;
  for (double trials = 0;; ++successes) {
    trials += std::ceil(std::log(fraction(gen)) / log_failure);
    if (trials > count) return successes;
  }
}

double binomial_sample(CpuGeneratorImpl& gen, double count, double p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (std::isnan(p) || std::isnan(count)) return std::numeric_limits<double>::quiet_NaN();
  if (p > 0.5) return count - binomial_sample(gen, count, 1 - p);
  return count * p >= 10 ? binomial_by_rejection(gen, count, p) : binomial_by_waiting(gen, count, p);
}

}  // namespace

template <class T>
void standard_gamma(CpuGeneratorImpl& gen, T* out, const T* alpha, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  const auto least = static_cast<double>(std::numeric_limits<T>::min());
  for (int64_t i = 0; i < n; ++i)
    out[i] = from_double<T>(std::max(gamma_sample(gen, static_cast<double>(alpha[i])), least));
}

template <class T>
void poisson(CpuGeneratorImpl& gen, T* out, const T* rate, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  for (int64_t i = 0; i < n; ++i) out[i] = from_double<T>(poisson_sample(gen, static_cast<double>(rate[i])));
}

template <class T>
void binomial(CpuGeneratorImpl& gen, T* out, const T* count, const T* p, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  for (int64_t i = 0; i < n; ++i)
    out[i] = from_double<T>(binomial_sample(gen, static_cast<double>(count[i]), static_cast<double>(p[i])));
}

#define ARGAND_INSTANTIATE(T)                                             \
  template void standard_gamma(CpuGeneratorImpl&, T*, const T*, int64_t); \
  template void poisson(CpuGeneratorImpl&, T*, const T*, int64_t);        \
  template void binomial(CpuGeneratorImpl&, T*, const T*, const T*, int64_t);

ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)

}  // namespace argand::cpu
