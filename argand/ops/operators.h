// Arithmetic and comparison operators on tensors and numbers.
#pragma once
#include "argand/ops/functions.h"

namespace argand {

#define ARGAND_BINARY_OPERATOR(symbol, function)                                                           \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return function(a, b); }              \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return function(a, b); }              \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return function(exec::wrapped_number(a), b); }

namespace exec {
Tensor wrapped_number(const Scalar& value);
}

ARGAND_BINARY_OPERATOR(+, add)
ARGAND_BINARY_OPERATOR(-, sub)
ARGAND_BINARY_OPERATOR(*, mul)
ARGAND_BINARY_OPERATOR(/, div)

}  // namespace argand
