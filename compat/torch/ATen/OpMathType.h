// In which type arithmetic on a dtype is done, and in which its sums are.
#pragma once
#include <complex>

#include "argand/core/dtype.h"
#include "c10/namespaces.h"

namespace at {

template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

inline ScalarType toOpMathType(ScalarType t) { return op_math_type(t); }

}  // namespace at
