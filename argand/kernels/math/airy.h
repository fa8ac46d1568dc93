// The Airy function Ai of real arguments: a rare function, one element at a time, computed in double.
#pragma once
#include "argand/kernels/math/composite.h"
#if !ARGAND_MATH_DEVICE
#include <cmath>
#endif

namespace argand::math {

namespace detail {

// From `value` and `slope` of a solution of y'' = x y at `from` to those at from + h, by its Taylor series: the
// equation gives each term from the second and the third before it.
ARGAND_HD inline void airy_step(double from, double h, double& value, double& slope) {
  double before = 0, term = value, next = slope * h, sum = term + next, weighted = next;
  for (int k = 0; k < 30; ++k) {
    const double after = h * h * (from * term + h * before) / ((k + 1) * (k + 2));
    before = term;
    term = next;
    next = after;
    sum += after;
    weighted += (k + 2) * after;
  }
  value = sum;
  slope = weighted / h;
}

// Up to 1, in steps of at most 1 from 0: stable down the negative axis, where no solution grows.
ARGAND_HD inline double airy_near(double x) {
  double value = 0x1.6b8c7962715b8p-2, slope = -0x1.0907f42b70f8bp-2;  // of Ai at 0
  const int steps = static_cast<int>(magnitude(x)) + 1;
  if (x != 0)
    for (int i = 0; i < steps; ++i) airy_step(x * i / steps, x / steps, value, slope);
  return value;
}

// sqrt(x / 3) K_1/3(z) / pi with z = 2/3 x^1.5: the integral of e^(-z cosh t) cosh(t / 3) from 0 on by the trapezoidal
// rule, whose error falls exponentially with its step.
ARGAND_HD inline double airy_decaying(double x) {
  const double z = x * sqrt(x) * 2 / 3, step = min(0.2, 0.6 / sqrt(z));
  double sum = 0.5;
  for (int k = 1;; ++k) {
    const double s = exp(k * step / 2), sinh = (s - 1 / s) / 2, e = exp(k * step / 3), cosh = (e + 1 / e) / 2;
    const double term = exp(-2 * z * (sinh * sinh)) * cosh;  // cosh t - 1 = 2 sinh^2 (t / 2)
    sum += term;
    if (term < 0x1p-56 * sum) return exp(-z) * sum * step * sqrt(x / 3) / kPi<double>;
  }
}

// Ai(-a) for large a: with z = 2/3 a^1.5, cos(z - pi/4) (1 - u_2 / z^2 + ...) + sin(z - pi/4) (u_1 / z - u_3 / z^3 +
// ...) over sqrt(pi) a^(1/4).  The phase is computed to twice the precision: it is large.
ARGAND_HD inline double airy_oscillating(double a) {
  const double root = sqrt(a), cube = a * root;
  const double rest = fma(a, root, -cube) + a * fma(-root, root, a) / (2 * root);
  const double z = 2 * cube / 3, low = (fma(-3, z, 2 * cube) + 2 * rest) / 3;
  double term = 1, even = 1, odd = 0;
  for (int k = 1; k < 40 && magnitude(term) > 0x1p-56; ++k) {
    term *= (6 * k - 5.0) * (6 * k - 3.0) * (6 * k - 1.0) / (216.0 * k * (2 * k - 1) * z);
    (k % 2 ? odd : even) += k / 2 % 2 ? -term : term;
  }
  const double c = cos(z), s = sin(z), cosine = c - low * s, sine = s + low * c;
  return ((cosine + sine) * even + (sine - cosine) * odd) / sqrt(2 * kPi<double> * root);
}

}  // namespace detail

// NaN at the infinities, as in PyTorch.
ARGAND_HD inline double airy_ai(double x) {
  if (!(detail::magnitude(x) < detail::kInfinity<double>)) return detail::kNaN<double>;
  if (x > 110) return 0;  // below the least number of a double
  return x > 1 ? detail::airy_decaying(x) : x > -9 ? detail::airy_near(x) : detail::airy_oscillating(-x);
}
ARGAND_HD inline float airy_ai(float x) { return static_cast<float>(airy_ai(static_cast<double>(x))); }

}  // namespace argand::math
