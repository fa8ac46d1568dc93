// Complex numbers on the device, with the operators and functions of std::complex that bodies of pointwise ops use.
// Functions of single precision compute in double; those of double are within a few units of the last place for
// moderate arguments.  Inverse functions after W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987).
#pragma once
#include "argand/kernels/math.h"

#define ARGAND_COMPLEX constexpr __device__ __forceinline__

namespace argand {

template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;

  Complex() = default;
  ARGAND_COMPLEX Complex(T real, T imag) : re(real), im(imag) {}
  template <class R>
  ARGAND_COMPLEX explicit(sizeof(R) > 16) Complex(R real) : re(static_cast<T>(real)), im(0) {}
  template <class U>
  ARGAND_COMPLEX explicit Complex(const Complex<U>& z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  // The real part, as conversions to real dtypes have it.
  template <class R>
  ARGAND_COMPLEX explicit operator R() const {
    return static_cast<R>(re);
  }
  ARGAND_COMPLEX T real() const { return re; }
  ARGAND_COMPLEX T imag() const { return im; }

  friend ARGAND_COMPLEX Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
  friend ARGAND_COMPLEX Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
  friend ARGAND_COMPLEX Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
  friend ARGAND_COMPLEX Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // Scaled by the larger part of b (Smith, 1962), so that its square neither overflows nor vanishes.
  friend ARGAND_COMPLEX Complex operator/(const Complex& a, const Complex& b) {
    if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
      const T r = b.im / b.re, d = b.re + b.im * r;
      if (b.re == 0) return {a.re / b.re, a.im / b.re};
      return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    const T r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
  }
  ARGAND_COMPLEX Complex& operator+=(const Complex& other) { return *this = *this + other; }
  friend ARGAND_COMPLEX bool operator==(const Complex& a, const Complex& b) { return a.re == b.re && a.im == b.im; }
  friend ARGAND_COMPLEX bool operator!=(const Complex& a, const Complex& b) { return !(a == b); }
};

namespace math {

template <class T>
inline constexpr T kPi<Complex<T>> = kPi<T>;

namespace detail {

using Z = Complex<double>;
ARGAND_COMPLEX Z times_i(const Z& z) { return {-z.im, z.re}; }
ARGAND_COMPLEX Z over_i(const Z& z) { return {z.im, -z.re}; }
ARGAND_COMPLEX Z conj(const Z& z) { return {z.re, -z.im}; }

ARGAND_COMPLEX Z exp_z(const Z& z) {
  const double e = exp(z.re);
  return {e * cos(z.im), z.im == 0 ? z.im : e * sin(z.im)};
}
ARGAND_COMPLEX Z log_z(const Z& z) { return {log(hypot(z.re, z.im)), atan2(z.im, z.re)}; }
ARGAND_COMPLEX Z sqrt_z(const Z& z) {
  if (z.re == 0 && z.im == 0) return {0.0, z.im};
  const double t = sqrt((magnitude(z.re) + hypot(z.re, z.im)) / 2);
  return z.re >= 0 ? Z{t, z.im / (2 * t)} : Z{magnitude(z.im) / (2 * t), with_sign_of(t, z.im)};
}
ARGAND_COMPLEX Z sin_z(const Z& z) { return {sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im)}; }
ARGAND_COMPLEX Z cos_z(const Z& z) { return {cos(z.re) * cosh(z.im), -(sin(z.re) * sinh(z.im))}; }
ARGAND_COMPLEX Z tanh_z(const Z& z) {
  if (magnitude(z.re) > 20) return {with_sign_of(1.0, z.re), with_sign_of(0.0, z.im)};
  const double d = cosh(2 * z.re) + cos(2 * z.im);
  return {sinh(2 * z.re) / d, sin(2 * z.im) / d};
}
ARGAND_COMPLEX Z asin_z(const Z& z) {
  const Z below = sqrt_z(Z(1) - z), above = sqrt_z(Z(1) + z);
  return {atan2(z.re, (below * above).re), asinh((conj(below) * above).im)};
}
ARGAND_COMPLEX Z acos_z(const Z& z) {
  const Z below = sqrt_z(Z(1) - z), above = sqrt_z(Z(1) + z);
  return {2 * atan2(below.re, above.re), asinh((conj(above) * below).im)};
}
ARGAND_COMPLEX Z acosh_z(const Z& z) {
  const Z below = sqrt_z(z - Z(1)), above = sqrt_z(z + Z(1));
  return {asinh((conj(below) * above).re), 2 * atan2(below.im, above.re)};
}
ARGAND_COMPLEX Z atanh_z(const Z& z) {
  const double x = z.re, y = z.im;
  // log of |1 + z| / |1 - z| from the side where the quotient is above 1.
  const double far = (1 + magnitude(x)) * (1 + magnitude(x)) + y * y,
               near = (1 - magnitude(x)) * (1 - magnitude(x)) + y * y;
  const double real = far < 2 * near ? log1p(4 * magnitude(x) / near) / 4 : log(far / near) / 4;
  return {with_sign_of(real, x), atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
ARGAND_COMPLEX Z expm1_z(const Z& z) {
  const double half_sine = sin(z.im / 2);
  return {expm1(z.re) * cos(z.im) - 2 * half_sine * half_sine, exp(z.re) * sin(z.im)};
}
ARGAND_COMPLEX Z log1p_z(const Z& z) {
  const double a = z.re, b = z.im;
  const bool small = magnitude(a) < 0.5 && magnitude(b) < 0.5;
  return {small ? log1p(a * (2 + a) + b * b) / 2 : log(hypot(1 + a, b)), atan2(b, 1 + a)};
}

}  // namespace detail

#define ARGAND_COMPLEX_FUNCTION(name, ...)              \
  template <class T>                                    \
  ARGAND_COMPLEX Complex<T> name(const Complex<T>& x) { \
    using namespace detail;                             \
    const Z z(x);                                       \
    return Complex<T>(__VA_ARGS__);                     \
  }
ARGAND_COMPLEX_FUNCTION(exp, exp_z(z))
ARGAND_COMPLEX_FUNCTION(exp2, exp_z(Z(z.re * 0x1.62e42fefa39efp-1, z.im * 0x1.62e42fefa39efp-1)))
ARGAND_COMPLEX_FUNCTION(expm1, expm1_z(z))
ARGAND_COMPLEX_FUNCTION(log, log_z(z))
ARGAND_COMPLEX_FUNCTION(log2, log_z(z) * Z(0x1.71547652b82fep+0))
ARGAND_COMPLEX_FUNCTION(log10, log_z(z) * Z(0x1.bcb7b1526e50ep-2))
ARGAND_COMPLEX_FUNCTION(log1p, log1p_z(z))
ARGAND_COMPLEX_FUNCTION(sqrt, sqrt_z(z))
ARGAND_COMPLEX_FUNCTION(rsqrt, Z(1) / sqrt_z(z))
ARGAND_COMPLEX_FUNCTION(sigmoid, Z(1) / (Z(1) + exp_z(-z)))
ARGAND_COMPLEX_FUNCTION(sin, sin_z(z))
ARGAND_COMPLEX_FUNCTION(cos, cos_z(z))
ARGAND_COMPLEX_FUNCTION(tan, over_i(tanh_z(times_i(z))))
ARGAND_COMPLEX_FUNCTION(sinh, over_i(sin_z(times_i(z))))
ARGAND_COMPLEX_FUNCTION(cosh, cos_z(times_i(z)))
ARGAND_COMPLEX_FUNCTION(tanh, tanh_z(z))
ARGAND_COMPLEX_FUNCTION(asin, asin_z(z))
ARGAND_COMPLEX_FUNCTION(acos, acos_z(z))
ARGAND_COMPLEX_FUNCTION(atan, over_i(atanh_z(times_i(z))))
ARGAND_COMPLEX_FUNCTION(asinh, over_i(asin_z(times_i(z))))
ARGAND_COMPLEX_FUNCTION(acosh, acosh_z(z))
ARGAND_COMPLEX_FUNCTION(atanh, atanh_z(z))
#undef ARGAND_COMPLEX_FUNCTION

template <class T>
ARGAND_COMPLEX T abs(const Complex<T>& z) {
  return static_cast<T>(hypot(static_cast<double>(z.re), static_cast<double>(z.im)));
}
template <class T>
ARGAND_COMPLEX T angle(const Complex<T>& z) {
  return atan2(z.im, z.re);
}
template <class T>
ARGAND_COMPLEX Complex<T> conjugate(const Complex<T>& z) {
  return {z.re, -z.im};
}
template <class T>
ARGAND_COMPLEX Complex<T> sign(const Complex<T>& z) {  // z / |z|, 0 at 0: torch.sgn
  const T r = abs(z);
  return r == 0 ? Complex<T>(0) : Complex<T>(z.re / r, z.im / r);
}
// 0^w is 1 for w = 0 and 0 for a positive real part of w.
template <class T>
ARGAND_COMPLEX Complex<T> pow(const Complex<T>& z, const Complex<T>& w) {
  if (w == Complex<T>(0)) return Complex<T>(1);
  if (z == Complex<T>(0) && w.re > 0) return Complex<T>(0);
  return Complex<T>(detail::exp_z(detail::Z(w) * detail::log_z(detail::Z(z))));
}
template <class T>
ARGAND_COMPLEX bool isnan(const Complex<T>& z) {
  return isnan(z.re) || isnan(z.im);
}
template <class T>
ARGAND_COMPLEX bool isinf(const Complex<T>& z) {
  return isinf(z.re) || isinf(z.im);
}
template <class T>
ARGAND_COMPLEX bool isfinite(const Complex<T>& z) {
  return isfinite(z.re) && isfinite(z.im);
}
template <class T>
ARGAND_COMPLEX bool is_close(const Complex<T>& a, const Complex<T>& b, const Complex<T>& relative,
                             const Complex<T>& absolute, const Complex<T>& equal_nan) {
  const auto error = abs(a - b);
  const bool near = isfinite(error) && error <= absolute.re + abs(relative * b);
  return a == b || near || (equal_nan.re != 0 && isnan(a) && isnan(b));
}

}  // namespace math
}  // namespace argand
#undef ARGAND_COMPLEX
