// The types in which arithmetic on a dtype, and its sums, are computed.
#pragma once
#include "argand/core/dispatch.h"
#include "c10/namespaces.h"

namespace at {

template <class T>
using OpMathType = argand::op_math<T>;
template <class T>
using opmath_type = argand::op_math_t<T>;

// The type of the parts of a complex number; of another, itself.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};

inline ScalarType toOpMathType(ScalarType t) { return op_math_type(t); }

}  // namespace at
