// In which type arithmetic on a dtype is done, and in which its sums are.
#pragma once
#include "argand/core/dispatch.h"
#include "c10/namespaces.h"

namespace at {

template <class T>
using OpMathType = argand::op_math<T>;
template <class T>
using opmath_type = argand::op_math_t<T>;

inline ScalarType toOpMathType(ScalarType t) { return op_math_type(t); }

}  // namespace at
