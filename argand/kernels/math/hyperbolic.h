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
  const float e = detail::exp_normal(2 * detail::at_most(a, 10.0f));
  const float large = 1 - 2 / (e + 1);
  return detail::with_sign_of(detail::select(a < 0.625f, small, large), x);
}
// t / (t + 2) with t = e^2|x| - 1, and the quotient corrected by what rounding took from t and from t + 2.  The
// correction is divided by t + 2 by way of 2 / (t + 2) = 1 - quotient.
ARGAND_MATH double tanh(double x) {
  const double a = detail::magnitude(x);
  const detail::Pair<double> t = detail::expm1_pair(2 * detail::at_most(a, 20.0));
  const bool above = t.high > 2;
  const detail::Pair<double> d =
      detail::add_exactly(detail::select(above, t.high, 2.0), detail::select(above, 2.0, t.high));
  const double q = t.high / d.high;
  return detail::with_sign_of(q + (t.low - q * (d.low + t.low)) * (0.5 - 0.5 * q), x);
}

// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x: no overflow, and results as small as numbers go.  The quotient is
// corrected as in tanh; 1 / (1 + t) is the quotient itself or 1 - quotient.  Above 40 it is 1; below -40 it is t, and
// the products of the correction would be denormal.
template <detail::Floating T>
ARGAND_MATH T sigmoid(T x) {
  const bool negative = x < 0;
  const T m = -detail::select(x > 40, T(40), detail::magnitude(x));
  const detail::Pair<T> t = detail::exp_pair(m);
  const detail::Pair<T> d = detail::add_exactly(T(1), t.high);
  const T q = detail::select(negative, t.high, T(1)) / d.high;
  const T numerator_low = detail::select(negative, t.low, T(0));
  const T rest = detail::select(m < -40, T(0), d.low + t.low);
  return q + (numerator_low - q * rest) * detail::select(negative, 1 - q, q);
}

namespace detail {
// Float functions by way of double, whose spare digits pay for the cancellation near 0; closer still, two terms of the
// series are exact enough: x + c x^3.
ARGAND_MATH float or_series(float magnitude, double by_formula, double c) {
  const double a = magnitude;
  return static_cast<float>(select(a < 0x1p-9, a + c * (a * a * a), by_formula));
}
}  // namespace detail

ARGAND_MATH float sinh(float x) {
  const float a = detail::magnitude(x);
  const double e = detail::exp_normal<double>(detail::at_most(a, 100.0f));
  return detail::with_sign_of(detail::or_series(a, 0.5 * (e - 1 / e), 1.0 / 6), x);
}
ARGAND_MATH float cosh(float x) {
  const float a = detail::magnitude(x);
  const double e = detail::exp_normal<double>(detail::at_most(a, 100.0f));
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
  return detail::select(x < 1, detail::kNaN<float>, r);
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
