// The incomplete gamma and beta functions and what depends on them: rare functions, one element at a time.
//
// Series and continued fractions are written for a number type: double, or Slope, which carries the derivative in the
// parameter along.
#pragma once
#include "argand/kernels/math/composite.h"
#if !ARGAND_MATH_DEVICE
#include "argand/kernels/math/gamma.h"
#endif

namespace argand::math {

namespace detail {

// A value and its derivative.
struct Slope {
  double value, slope;
};
ARGAND_HD inline Slope operator+(Slope a, Slope b) { return {a.value + b.value, a.slope + b.slope}; }
ARGAND_HD inline Slope operator+(Slope a, double b) { return {a.value + b, a.slope}; }
ARGAND_HD inline Slope operator-(double a, Slope b) { return {a - b.value, -b.slope}; }
ARGAND_HD inline Slope operator*(Slope a, Slope b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
ARGAND_HD inline Slope operator*(double a, Slope b) { return {a * b.value, a * b.slope}; }
ARGAND_HD inline Slope operator/(Slope a, Slope b) {
  const double quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}
ARGAND_HD inline double value_of(double x) { return x; }
ARGAND_HD inline double value_of(Slope x) { return x.value; }
ARGAND_HD inline double distance(double x, double y) { return magnitude(x - y); }
ARGAND_HD inline double distance(Slope x, Slope y) {
  return magnitude(x.value - y.value) + magnitude(x.slope - y.slope);
}

// About 6 sqrt(a) steps are needed.
constexpr int kMostSteps = 1 << 17;
constexpr double kNegligible = 0x1p-54;

// sum of x^n / ((a + 1) ... (a + n)) for x < a + 1
template <class Number>
ARGAND_HD inline Number gamma_series(Number a, double x, Number one) {
  Number term = one, sum = one;
  for (int n = 1; n < kMostSteps; ++n) {
    term = term * (x * (one / (a + static_cast<double>(n))));
    const Number next = sum + term;
    const bool settled = distance(next, sum) <= kNegligible * value_of(sum);
    sum = next;
    if (settled) break;
  }
  return sum;
}

// 1 / (x + 1 - a - (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))) for x >= a + 1, by Lentz's method
template <class Number>
ARGAND_HD inline Number gamma_fraction(Number a, double x, Number one) {
  Number b = (x + 1) - a, c = 1e300 * one, d = one / b, h = d;
  for (int n = 1; n < kMostSteps; ++n) {
    const Number coefficient = -static_cast<double>(n) * (static_cast<double>(n) - a);
    b = b + 2.0;
    d = one / (coefficient * d + b);
    c = b + coefficient / c;
    const Number next = h * (c * d);
    const bool settled = distance(next, h) <= kNegligible * magnitude(value_of(h));
    h = next;
    if (settled) break;
  }
  return h;
}

// x^a e^-x / gamma(a + 1), for large a without the cancellation
ARGAND_HD inline double gamma_power(double a, double x) {
  if (a < 10) return exp(a * log(x) - x - lgamma(a + 1));
  const double u = (x - a) / a, z = 1 / (a * a);
  const double stirling = polynomial(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188) / a;
  return exp(a * (log1p(u) - u) - stirling) / sqrt(2 * kPi<double> * a);
}

// P(a, x), or Q(a, x) = 1 - P: the part of the gamma distribution of shape a below x, or above.
ARGAND_HD inline double gamma_part(double a, double x, bool above) {
  if (!(a >= 0) || !(x >= 0)) return kNaN<double>;
  if (a == 0) return x == 0 ? kNaN<double> : above ? 0 : 1;
  if (x == 0) return above ? 1 : 0;
  if (a == kInfinity<double>) return x == a ? kNaN<double> : above ? 1 : 0;
  if (x == kInfinity<double>) return above ? 0 : 1;
  if (a > 1e8) {  // two terms of Temme's uniform expansion
    const double u = (x - a) / a, eta = with_sign_of(sqrt(2 * max(u - log1p(u), 0.0)), u);
    const double correction = magnitude(u) < 1e-5 ? -1.0 / 3 : 1 / u - 1 / eta;
    const double rest = exp(-a * eta * eta / 2) / sqrt(2 * kPi<double> * a) * correction;
    return above ? erfc(eta * sqrt(a / 2)) / 2 + rest : erfc(-eta * sqrt(a / 2)) / 2 - rest;
  }
  if (x < a + 1) {
    const double below = gamma_power(a, x) * gamma_series<double>(a, x, 1);
    return above ? 1 - below : below;
  }
  const double rest = gamma_power(a, x) * a * gamma_fraction<double>(a, x, 1);
  return above ? rest : 1 - rest;
}

// The fraction of the incomplete beta function: I(x; a, b) = x^a (1 - x)^b / (a B(a, b)) times it, by Lentz's method;
// soon settled for x < (a + 1) / (a + b + 2).
template <class Number>
ARGAND_HD inline Number beta_fraction(Number a, Number b, double x, Number one) {
  const Number both = a + b;
  Number c = one, d = one / (1.0 - x * (both / (a + 1.0))), h = d;
  for (int m = 1; m < kMostSteps; ++m) {
    const double n = m;
    const Number twice = a + 2 * n;
    const Number even = (n * x) * ((b + -n) / ((twice + -1.0) * twice));
    d = one / (even * d + 1.0);
    c = even / c + 1.0;
    h = h * (c * d);
    const Number odd = -x * ((a + n) * (both + n) / (twice * (twice + 1.0)));
    d = one / (odd * d + 1.0);
    c = odd / c + 1.0;
    const Number next = h * (c * d);
    const bool settled = distance(next, h) <= kNegligible * magnitude(value_of(h));
    h = next;
    if (settled) break;
  }
  return h;
}

}  // namespace detail

ARGAND_HD inline double igamma(double a, double x) { return detail::gamma_part(a, x, false); }
ARGAND_HD inline double igammac(double a, double x) { return detail::gamma_part(a, x, true); }

// How the sample x > 0 of a gamma distribution moves with its shape a, its quantile held: -(dP/da) / (dP/dx).
ARGAND_HD inline double gamma_sample_slope(double a, double x) {
  using detail::Slope;
  if (x < a + 1) {
    const Slope s = detail::gamma_series<Slope>({a, 1}, x, {1, 0});
    return -x / a * (s.value * (log(x) - digamma(a + 1)) + s.slope);
  }
  const Slope f = detail::gamma_fraction<Slope>({a, 1}, x, {1, 0});
  return x * (f.value * (log(x) - digamma(a)) + f.slope);
}

// The same for the part x of a Dirichlet distribution, which is beta distributed with a and b = total - a, over 1 - x:
// the gradient of sample i in its own concentration is this times (g_i - the sum of g_j x_j).
ARGAND_HD inline double dirichlet_sample_slope(double x, double a, double total) {
  using detail::Slope;
  const double b = total - a;
  if (x * (a + b + 2) < a + 1) {
    const Slope f = detail::beta_fraction<Slope>({a, 1}, {b, 0}, x, {1, 0});
    return -x / a * (f.value * (log(x) - 1 / a - digamma(a) + digamma(total)) + f.slope);
  }
  const Slope f = detail::beta_fraction<Slope>({b, 0}, {a, 1}, 1 - x, {1, 0});
  return x / b * (f.value * (log(x) - digamma(a) + digamma(total)) + f.slope);
}

#define ARGAND_FOR_FLOAT2(name)                                                      \
  ARGAND_HD inline float name(float x, float y) {                                    \
    return static_cast<float>(name(static_cast<double>(x), static_cast<double>(y))); \
  }
ARGAND_FOR_FLOAT2(igamma)
ARGAND_FOR_FLOAT2(igammac)
ARGAND_FOR_FLOAT2(gamma_sample_slope)
#undef ARGAND_FOR_FLOAT2
ARGAND_HD inline float dirichlet_sample_slope(float x, float a, float total) {
  return static_cast<float>(
      dirichlet_sample_slope(static_cast<double>(x), static_cast<double>(a), static_cast<double>(total)));
}

}  // namespace argand::math
