// tanh, sigmoid and their relatives without branches.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/exp_log.h"

namespace argand::math {

// |x| < 0.625: x + x^3 p(x^2); beyond, 1 - 2 / (e^2|x| + 1), which has no cancellation to speak of there.
ARGAND_MATH float tanh(float x) {
  const float a = detail::magnitude(x);
  const float z = x * x;
  const float small = a + a * (z * detail::polynomial(z, -0x1.555532p-2f, 0x1.110704p-3f, -0x1.b838a0p-5f,
                                                      0x1.5211c4p-6f, -0x1.758facp-8f));
  const float e = detail::exp_normal(2 * (a > 10 ? 10.0f : a));
  const float large = 1 - 2 / (e + 1);
  return detail::with_sign_of(a < 0.625f ? small : large, x);
}
// t / (t + 2) with t = e^2|x| - 1, and the quotient corrected by what rounding took from t and from t + 2.  The
// correction is divided by t + 2 by way of 2 / (t + 2) = 1 - quotient.
ARGAND_MATH double tanh(double x) {
  const double a = detail::magnitude(x);
  const detail::Pair<double> t = detail::expm1_pair(2 * (a > 20 ? 20.0 : a));
  const detail::Pair<double> d = t.high > 2 ? detail::add_exactly(t.high, 2.0) : detail::add_exactly(2.0, t.high);
  const double q = t.high / d.high;
  return detail::with_sign_of(q + (t.low - q * (d.low + t.low)) * (0.5 - 0.5 * q), x);
}

// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x: no overflow, and results as small as numbers go.  The quotient is
// corrected as in tanh; 1 / (1 + t) is the quotient itself or 1 - quotient.
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T sigmoid(T x) {
  const detail::Pair<T> t = detail::exp_pair(-detail::magnitude(x));
  const detail::Pair<T> d = detail::add_exactly(T(1), t.high);
  const bool negative = x < 0;
  const T q = (negative ? t.high : T(1)) / d.high;
  const T numerator_low = negative ? t.low : T(0);
  return q + (numerator_low - q * (d.low + t.low)) * (negative ? 1 - q : q);
}

// log(1 + e^x): softplus with beta 1 and no threshold.
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T log1p_exp(T x) {
  return (x < 0 ? T(0) : x) + log1p(exp(-detail::magnitude(x)));
}

template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T log_sigmoid(T x) {
  return (x < 0 ? x : T(0)) - log1p(exp(-detail::magnitude(x)));
}

// log(e^a + e^b)
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T logaddexp(T a, T b) {
  const T r = max(a, b) + log1p(exp(-detail::magnitude(a - b)));
  return a == b && isinf(a) ? a : r;
}

namespace detail {
// Float functions by way of double, whose spare digits pay for the cancellation near 0; closer still, two terms of the
// series are exact enough: x + c x^3.
ARGAND_MATH float or_series(float magnitude, double by_formula, double c) {
  const double a = magnitude;
  return static_cast<float>(a < 0x1p-9 ? a + c * (a * a * a) : by_formula);
}
}  // namespace detail

ARGAND_MATH float sinh(float x) {
  const float a = detail::magnitude(x);
  const double e = detail::exp_normal<double>(a > 100 ? 100.0f : a);
  return detail::with_sign_of(detail::or_series(a, 0.5 * (e - 1 / e), 1.0 / 6), x);
}
ARGAND_MATH float cosh(float x) {
  const float a = detail::magnitude(x);
  const double e = detail::exp_normal<double>(a > 100 ? 100.0f : a);
  return static_cast<float>(0.5 * (e + 1 / e));
}
ARGAND_MATH float asinh(float x) {
  const float a = detail::magnitude(x);
  const double d = a;
  return detail::with_sign_of(detail::or_series(a, detail::log(d + __builtin_sqrt(d * d + 1)), -1.0 / 6), x);
}
ARGAND_MATH float acosh(float x) {
  const double d = x;
  const float r = static_cast<float>(detail::log(d + __builtin_sqrt(d * d - 1)));
  return x < 1 ? detail::kNaN<float> : r;
}
ARGAND_MATH float atanh(float x) {
  const float a = detail::magnitude(x);
  const double d = a;
  return detail::with_sign_of(detail::or_series(a, 0.5 * detail::log((1 + d) / (1 - d)), 1.0 / 3), x);
}

ARGAND_MATH double sinh(double x) { return std::sinh(x); }
ARGAND_MATH double cosh(double x) { return std::cosh(x); }
ARGAND_MATH double asinh(double x) { return std::asinh(x); }
ARGAND_MATH double acosh(double x) { return std::acosh(x); }
ARGAND_MATH double atanh(double x) { return std::atanh(x); }

}  // namespace argand::math
