// Parts of activation functions that need care with rounding and overflow.
#pragma once
#include "argand/kernels/math/composite.h"

namespace argand::math {

// tanh(log(1 + e^x)) = ((1 + e^x)^2 - 1) / ((1 + e^x)^2 + 1), written in e^-|x|: no overflow, no cancellation.
template <detail::Floating T>
ARGAND_MATH T tanh_softplus(T x) {
  const T e = exp(-detail::magnitude(x));
  const T numerator = detail::select(x < 0, e * (e + 2), 1 + 2 * e);
  return numerator / (numerator + detail::select(x < 0, T(2), 2 * e * e));
}

}  // namespace argand::math
