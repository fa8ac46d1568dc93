// CUDA's implementations of the functions, compiled only in device code.  They are within 2 units in the last place,
// except the gamma family, normal_cdf and gelu (CUDA C++ Programming Guide, "Mathematical Functions").
#pragma once
#include "argand/kernels/math/basic.h"

#if defined(__CUDACC__)
namespace argand::math {

#define ARGAND_DEVICE_FUNCTION(name)                       \
  ARGAND_MATH float name(float x) { return ::name##f(x); } \
  ARGAND_MATH double name(double x) { return ::name(x); }
#define ARGAND_DEVICE_FUNCTION2(name)                                  \
  ARGAND_MATH float name(float x, float y) { return ::name##f(x, y); } \
  ARGAND_MATH double name(double x, double y) { return ::name(x, y); }
ARGAND_DEVICE_FUNCTION(exp)
ARGAND_DEVICE_FUNCTION(exp2)
ARGAND_DEVICE_FUNCTION(expm1)
ARGAND_DEVICE_FUNCTION(log)
ARGAND_DEVICE_FUNCTION(log2)
ARGAND_DEVICE_FUNCTION(log10)
ARGAND_DEVICE_FUNCTION(log1p)
ARGAND_DEVICE_FUNCTION(sin)
ARGAND_DEVICE_FUNCTION(cos)
ARGAND_DEVICE_FUNCTION(tan)
ARGAND_DEVICE_FUNCTION(asin)
ARGAND_DEVICE_FUNCTION(acos)
ARGAND_DEVICE_FUNCTION(atan)
ARGAND_DEVICE_FUNCTION(sinh)
ARGAND_DEVICE_FUNCTION(cosh)
ARGAND_DEVICE_FUNCTION(tanh)
ARGAND_DEVICE_FUNCTION(asinh)
ARGAND_DEVICE_FUNCTION(acosh)
ARGAND_DEVICE_FUNCTION(atanh)
ARGAND_DEVICE_FUNCTION(erf)
ARGAND_DEVICE_FUNCTION(erfc)
ARGAND_DEVICE_FUNCTION(erfinv)
ARGAND_DEVICE_FUNCTION(lgamma)
ARGAND_DEVICE_FUNCTION2(atan2)
ARGAND_DEVICE_FUNCTION2(pow)
#undef ARGAND_DEVICE_FUNCTION
#undef ARGAND_DEVICE_FUNCTION2

template <detail::Floating T>
ARGAND_MATH T sigmoid(T x) {
  const T t = exp(-detail::magnitude(x));
  return (x < 0 ? t : T(1)) / (1 + t);
}
ARGAND_MATH float normal_cdf(float x) { return ::normcdff(x); }
ARGAND_MATH double normal_cdf(double x) { return ::normcdf(x); }
template <detail::Floating T>
ARGAND_MATH T normal_pdf(T x) {
  constexpr T kInverseSqrtTwoPi = T(0x1.9884533d43651p-2);
  return kInverseSqrtTwoPi * exp(T(-0.5) * x * x);
}
template <detail::Floating T>
ARGAND_MATH T gelu(T x) {
  return x * normal_cdf(x);
}

}  // namespace argand::math
#endif
