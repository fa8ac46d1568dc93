// The same names for std::complex: the standard library's functions, which follow C's Annex G.
#pragma once
#include <complex>

#include "argand/kernels/math/basic.h"

namespace argand::math {

template <class T>
inline constexpr std::complex<T> kPi<std::complex<T>> = kPi<T>;

// Not templates: the templates of std, which argument-dependent lookup finds too, would be equally good matches.
#define ARGAND_COMPLEX_FUNCTION(name)                                                    \
  inline std::complex<float> name(const std::complex<float>& z) { return std::name(z); } \
  inline std::complex<double> name(const std::complex<double>& z) { return std::name(z); }
ARGAND_COMPLEX_FUNCTION(exp)
ARGAND_COMPLEX_FUNCTION(log)
ARGAND_COMPLEX_FUNCTION(log10)
ARGAND_COMPLEX_FUNCTION(sqrt)
ARGAND_COMPLEX_FUNCTION(sin)
ARGAND_COMPLEX_FUNCTION(cos)
ARGAND_COMPLEX_FUNCTION(tan)
ARGAND_COMPLEX_FUNCTION(asin)
ARGAND_COMPLEX_FUNCTION(acos)
ARGAND_COMPLEX_FUNCTION(atan)
ARGAND_COMPLEX_FUNCTION(sinh)
ARGAND_COMPLEX_FUNCTION(cosh)
ARGAND_COMPLEX_FUNCTION(tanh)
ARGAND_COMPLEX_FUNCTION(asinh)
ARGAND_COMPLEX_FUNCTION(acosh)
ARGAND_COMPLEX_FUNCTION(atanh)
#undef ARGAND_COMPLEX_FUNCTION

inline float abs(const std::complex<float>& z) { return std::abs(z); }
inline double abs(const std::complex<double>& z) { return std::abs(z); }

// For T = float and double: functions that std does not have.
template <class T>
std::complex<T> exp2(const std::complex<T>& z) {
  constexpr T kLn2 = T(0x1.62e42fefa39efp-1);
  return std::exp(z * kLn2);
}
template <class T>
std::complex<T> log2(const std::complex<T>& z) {
  constexpr T kInverseLn2 = T(0x1.71547652b82fep+0);
  return std::log(z) * kInverseLn2;
}
// Real part e^a cos b - 1 = (e^a - 1) cos b - 2 sin^2(b / 2)
template <class T>
std::complex<T> expm1(const std::complex<T>& z) {
  const T half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}
// log |1 + z|: from |1 + z|^2 - 1 = a (2 + a) + b^2 while z is small, which loses nothing for 1 being added to it
template <class T>
std::complex<T> log1p(const std::complex<T>& z) {
  const T a = z.real(), b = z.imag();
  const bool small = std::abs(a) < T(0.5) && std::abs(b) < T(0.5);
  const T real = small ? std::log1p(a * (2 + a) + b * b) / 2 : std::log(std::hypot(1 + a, b));
  return {real, std::atan2(b, 1 + a)};
}
template <class T>
std::complex<T> angle(const std::complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <class T>
ARGAND_MATH std::complex<T> conjugate(const std::complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <class T>
std::complex<T> rsqrt(const std::complex<T>& z) {
  return T(1) / std::sqrt(z);
}
template <class T>
std::complex<T> sigmoid(const std::complex<T>& z) {
  return T(1) / (T(1) + std::exp(-z));
}
template <class T>
std::complex<T> sign(const std::complex<T>& z) {  // z / |z|, 0 at 0: torch.sgn
  const T r = std::abs(z);
  return r == 0 ? std::complex<T>(0) : z / r;
}

// 0^w is 1 for w = 0 and 0 for a positive real part of w, where std::pow may take a logarithm of 0.
namespace detail {
template <class T>
std::complex<T> complex_pow(const std::complex<T>& z, const std::complex<T>& w) {
  if (w == T(0)) return T(1);
  if (z == T(0) && w.real() > 0) return T(0);
  return std::pow(z, w);
}
}  // namespace detail
inline std::complex<float> pow(const std::complex<float>& z, const std::complex<float>& w) {
  return detail::complex_pow(z, w);
}
inline std::complex<double> pow(const std::complex<double>& z, const std::complex<double>& w) {
  return detail::complex_pow(z, w);
}

template <class T>
bool isnan(const std::complex<T>& z) {
  return isnan(z.real()) || isnan(z.imag());
}
template <class T>
bool isinf(const std::complex<T>& z) {
  return isinf(z.real()) || isinf(z.imag());
}
template <class T>
bool isfinite(const std::complex<T>& z) {
  return isfinite(z.real()) && isfinite(z.imag());
}

template <class T>
bool is_close(const std::complex<T>& a, const std::complex<T>& b, const std::complex<T>& relative,
              const std::complex<T>& absolute, const std::complex<T>& equal_nan) {
  const auto error = abs(a - b);
  const bool near = isfinite(error) && error <= absolute.real() + abs(relative * b);
  return a == b || near || (equal_nan.real() != 0 && isnan(a) && isnan(b));
}

}  // namespace argand::math
