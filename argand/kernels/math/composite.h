// Functions composed of others, with the same source for the CPU and for CUDA devices.
#pragma once
#include "argand/kernels/math/basic.h"
#if ARGAND_MATH_DEVICE
#include "argand/kernels/math/device.h"
#else
#include "argand/kernels/math/exp_log.h"
#include "argand/kernels/math/hyperbolic.h"
#include "argand/kernels/math/pow.h"
#include "argand/kernels/math/trig.h"
#endif

namespace argand::math {

// log(1 + e^x): softplus with beta 1 and no threshold.
template <detail::Floating T>
ARGAND_MATH T log1p_exp(T x) {
  return detail::select(x < 0, T(0), x) + log1p(exp(-detail::magnitude(x)));
}

template <detail::Floating T>
ARGAND_MATH T log_sigmoid(T x) {
  return detail::select(x < 0, x, T(0)) - log1p(exp(-detail::magnitude(x)));
}

// log(e^a + e^b)
template <detail::Floating T>
ARGAND_MATH T logaddexp(T a, T b) {
  const T r = max(a, b) + log1p(exp(-detail::magnitude(a - b)));
  return detail::select((a == b) & isinf(a), a, r);
}

// The approximation x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3), and its derivative in x.
template <detail::Floating T>
ARGAND_MATH T gelu_tanh_inner(T x) {  // 2 u
  constexpr T kTwoSqrtTwoOverPi = T(0x1.9884533d43651p+0);
  return kTwoSqrtTwoOverPi * (x + T(0.044715) * (x * x * x));
}
template <detail::Floating T>
ARGAND_MATH T gelu_tanh(T x) {
  return x * sigmoid(gelu_tanh_inner(x));
}
template <detail::Floating T>
ARGAND_MATH T gelu_tanh_derivative(T x) {
  constexpr T kTwoSqrtTwoOverPi = T(0x1.9884533d43651p+0);
  const T u = gelu_tanh_inner(x);
  const T t = exp(-detail::magnitude(u));
  const T d = 1 / (1 + t);
  const T slope = t * d * d;  // s (1 - s) without the cancellation
  return detail::select(u < 0, t * d, d) + x * slope * (kTwoSqrtTwoOverPi * (1 + T(3 * 0.044715) * (x * x)));
}

// The derivative of log gamma; NaN at -1, -2, ..., infinite with the opposite sign at the zeros.
// psi(x) = psi(x + 1) - 1/x up to x >= 12, then the series log x - 1/(2x) - sum of B_2k / (2k x^2k), k = 1 to 7.
ARGAND_HD inline double digamma(double x) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  if (x == 0) return -detail::with_sign_of(detail::kInfinity<double>, x);
  double result = 0;
  if (x < 0) {  // psi(x) = psi(1 - x) - pi / tan(pi x)
    const double fraction = x - trunc(x);
    if (fraction == 0) return detail::kNaN<double>;
    result = -kPi / tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 12; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * detail::polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  return result + (log(x) - 0.5 / x - series);
}
ARGAND_HD inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

// Hurwitz' zeta function, the sum of (q + k)^-s over k >= 0, for s >= 1: the terms up to q + k >= 12 + s are added up,
// while they matter, and the rest is Euler's and Maclaurin's series, which needs a q that is large beside s.
ARGAND_HD inline double zeta(double s, double q) {
  if (s == 1) return detail::kInfinity<double>;
  if (!(s > 1) || q != q) return detail::kNaN<double>;
  if (q <= 0 && q == floor(q)) return detail::kInfinity<double>;
  if (q <= 0 && s != floor(s)) return detail::kNaN<double>;  // of negative numbers
  double sum = 0;
  for (const double until = 12 + s; q < until; ++q) {
    const double term = pow(q, -s);
    sum += term;
    if (q > 0 && term <= sum * 0x1p-60) return sum;
  }
  if (s == detail::kInfinity<double>) return sum;  // the limit: what is left is 0, and the series has 0 times infinity
  // q^(1-s) / (s-1) + 1/2 q^-s + sum of B_2k / (2k)! s (s+1) ... (s+2k-2) q^(-s-2k+1), k = 1 to 8
  constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  const double power = pow(q, -s);
  sum += power * (0.5 + q / (s - 1));
  double factor = s * power / q / 2;
  for (int k = 1; k <= 8; ++k) {
    sum += kBernoulli[k - 1] * factor;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (q * q) / ((2 * k + 1) * (2 * k + 2));
  }
  return sum;
}
ARGAND_HD inline float zeta(float s, float q) {
  return static_cast<float>(zeta(static_cast<double>(s), static_cast<double>(q)));
}

// The n-th derivative of digamma, n >= 0: (-1)^(n+1) n! zeta(n + 1, x).
ARGAND_HD inline double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  const bool even = n == 2 * floor(n / 2);
  if (x <= 0 && x == floor(x)) return even ? detail::kNaN<double> : detail::kInfinity<double>;
  double factorial = 1;
  for (double k = 2; k <= n && factorial < detail::kInfinity<double>; ++k) factorial *= k;
  return (even ? -1 : 1) * factorial * zeta(n + 1, x);
}
ARGAND_HD inline float polygamma(float n, float x) {
  return static_cast<float>(polygamma(static_cast<double>(n), static_cast<double>(x)));
}

}  // namespace argand::math
