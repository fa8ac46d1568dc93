// Samples whose number of draws is itself random: gamma, Poisson and binomial, in double.  Compiled for the CPU and, by
// NVRTC, for GPUs.
//
// A Source gives the next fraction(), in [0, 1), and the next standard normal().
#pragma once
#include "argand/kernels/math.h"

namespace argand {

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
template <class Source>
ARGAND_HD double gamma_sample(Source& source, double alpha) {
  if (!(alpha >= 0)) return ARGAND_BUILTIN(nan)("");  // otherwise no draw would be accepted
  double scale = 1;
  if (alpha < 1) {  // a gamma variable of alpha + 1 times u^(1 / alpha)
    if (alpha == 0) return 0;
    scale = ARGAND_BUILTIN(pow)(1 - source.fraction(), 1 / alpha);
    alpha += 1;
  }
  // 1 / 3 is rounded as in PyTorch, to give the same samples.
  const double d = alpha - static_cast<double>(1.0f / 3), c = 1 / ARGAND_BUILTIN(sqrt)(9 * d);
  for (;;) {
    double x, root;
    do {
      x = source.normal();
      root = 1 + c * x;
    } while (root <= 0);
    const double v = root * root * root, u = 1 - source.fraction(), x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2 || ARGAND_BUILTIN(log)(u) < 0.5 * x2 + d * (1 - v + ARGAND_BUILTIN(log)(v)))
      return scale * d * v;
  }
}

// A candidate of both transformed rejection methods: a point, and its image k; `inside` if it is in the region where
// every point is accepted.
struct RejectionCandidate {
  double k, v, us;
  bool inside;
};
template <class Source>
ARGAND_HD RejectionCandidate rejection_candidate(Source& source, double a, double b, double center, double vr) {
  const double u = source.fraction() - 0.5, v = source.fraction(), us = 0.5 - ARGAND_BUILTIN(fabs)(u);
  return {ARGAND_BUILTIN(floor)((2 * a / us + b) * u + center), v, us, us >= 0.07 && v <= vr};
}

// Products of uniform numbers for means below 10, from there on PTRS (Hormann, "The transformed rejection method for
// generating Poisson random variables", 1993).
template <class Source>
ARGAND_HD double poisson_sample(Source& source, double rate) {
  if (!(rate >= 0)) return ARGAND_BUILTIN(nan)("");
  if (rate < 10) {
    if (rate == 0) return 0;
    const double bound = ARGAND_BUILTIN(exp)(-rate);
    double k = 0;
    for (double product = source.fraction(); product > bound; product *= source.fraction()) ++k;
    return k;
  }
  const double root = ARGAND_BUILTIN(sqrt)(rate), log_rate = ARGAND_BUILTIN(log)(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = ARGAND_BUILTIN(log)(1.1239 + 1.1328 / (b - 3.4)), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const RejectionCandidate c = rejection_candidate(source, a, b, rate + 0.43, vr);
    if (c.inside) return c.k;
    if (c.k < 0 || (c.us < 0.013 && c.v > c.us)) continue;
    if (ARGAND_BUILTIN(log)(c.v) + log_inverse_alpha - ARGAND_BUILTIN(log)(a / (c.us * c.us) + b) <=
        -rate + c.k * log_rate - math::lgamma(c.k + 1))
      return c.k;
  }
}

// log k! minus Stirling's approximation of it.
ARGAND_HD inline double stirling_error(double k) {
  if (k <= 9)
    return math::lgamma(k + 1) -
           ((k + 0.5) * ARGAND_BUILTIN(log)(k + 1) - (k + 1) + 0.5 * ARGAND_BUILTIN(log)(2 * math::kPi<double>));
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// BTRS (Hormann, "The generation of binomial random variates", 1993).
template <class Source>
ARGAND_HD double binomial_by_rejection(Source& source, double count, double p) {
  const double stddev = ARGAND_BUILTIN(sqrt)(count * p * (1 - p));
  const double b = 1.15 + 2.53 * stddev, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double vr = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * stddev;
  const double mode = ARGAND_BUILTIN(floor)((count + 1) * p);
  for (;;) {
    const RejectionCandidate c = rejection_candidate(source, a, b, count * p + 0.5, vr);
    if (c.inside) return c.k;
    if (c.k < 0 || c.k > count) continue;
    const double bound = (mode + 0.5) * ARGAND_BUILTIN(log)((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * ARGAND_BUILTIN(log)((count - mode + 1) / (count - c.k + 1)) +
                         (c.k + 0.5) * ARGAND_BUILTIN(log)(odds * (count - c.k + 1) / (c.k + 1)) +
                         stirling_error(mode) + stirling_error(count - mode) - stirling_error(c.k) -
                         stirling_error(count - c.k);
    if (ARGAND_BUILTIN(log)(c.v * alpha / (a / (c.us * c.us) + b)) <= bound) return c.k;
  }
}

// Waiting times between successes.
template <class Source>
ARGAND_HD double binomial_by_waiting(Source& source, double count, double p) {
  const double log_failure = ARGAND_BUILTIN(log1p)(-p);
  double successes = 0;
  for (double trials = 0;; ++successes) {
    trials += ARGAND_BUILTIN(ceil)(ARGAND_BUILTIN(log)(source.fraction()) / log_failure);
    if (trials > count) return successes;
  }
}

// Waiting times if fewer than 10 of the rarer outcome are expected; otherwise rejection.
template <class Source>
ARGAND_HD double binomial_sample(Source& source, double count, double p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p != p || count != count) return ARGAND_BUILTIN(nan)("");
  const bool failures = p > 0.5;
  const double q = failures ? 1 - p : p;
  const double k = count * q >= 10 ? binomial_by_rejection(source, count, q) : binomial_by_waiting(source, count, q);
  return failures ? count - k : k;
}

}  // namespace argand
