// Errors in units of the last place, for the tests of this folder.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace argand::math {

// The type a reference is computed in.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// |got - exact| over the distance of T's numbers around `exact` (that of denormals for tiny ones).  Beyond the largest
// number, infinity counts as the next one.  Huge where one is NaN and the other is not.
template <class T>
double ulp_error(T got, Wider<T> exact) {
  using W = Wider<T>;
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : HUGE_VAL;
  const W end = std::ldexp(W(1), Limits::max_exponent);
  if (std::abs(exact) >= end || std::isinf(got)) {
    const W a = std::clamp<W>(got, -end, end), b = std::clamp<W>(exact, -end, end);
    return static_cast<double>(std::abs(a - b) / std::ldexp(W(1), Limits::max_exponent - Limits::digits));
  }
  int exponent;
  std::frexp(exact, &exponent);
  const W ulp = std::ldexp(W(1), std::max(exponent, Limits::min_exponent) - Limits::digits);
  return static_cast<double>(std::abs(W(got) - exact) / ulp);
}

}  // namespace argand::math
