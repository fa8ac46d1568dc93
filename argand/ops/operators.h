// Arithmetic, comparison and logical operators on tensors and numbers, as LibTorch has them.
#pragma once
#include "argand/ops/functions.h"

namespace argand {

namespace exec {
Tensor wrapped_number(const Scalar& value);
}

// `reversed(b, a)` is what `a symbol b` is for a number on the left.
#define ARGAND_BINARY_OPERATOR(symbol, function, reversed)                                   \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return reversed; }

ARGAND_BINARY_OPERATOR(+, add, add(b, a))
ARGAND_BINARY_OPERATOR(-, sub, sub(exec::wrapped_number(a), b))
ARGAND_BINARY_OPERATOR(*, mul, mul(b, a))
ARGAND_BINARY_OPERATOR(/, div, div(exec::wrapped_number(a), b))
ARGAND_BINARY_OPERATOR(%, remainder, remainder(a, b))
ARGAND_BINARY_OPERATOR(&, bitwise_and, bitwise_and(b, a))
ARGAND_BINARY_OPERATOR(|, bitwise_or, bitwise_or(b, a))
ARGAND_BINARY_OPERATOR(^, bitwise_xor, bitwise_xor(b, a))
ARGAND_BINARY_OPERATOR(<, lt, gt(b, a))
ARGAND_BINARY_OPERATOR(<=, le, ge(b, a))
ARGAND_BINARY_OPERATOR(>, gt, lt(b, a))
ARGAND_BINARY_OPERATOR(>=, ge, le(b, a))
ARGAND_BINARY_OPERATOR(==, eq, eq(b, a))
ARGAND_BINARY_OPERATOR(!=, ne, ne(b, a))
#undef ARGAND_BINARY_OPERATOR

// An integer is a dimension, never the flag `unbiased` of the overload without dimensions.
#define ARGAND_OF_DIMENSION(function, Result)                                                      \
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0> \
  Result function(const Tensor& self, I dim) {                                                     \
    return function(self, OptionalIntArrayRef(dim));                                               \
  }
ARGAND_OF_DIMENSION(var, Tensor)
ARGAND_OF_DIMENSION(std, Tensor)
ARGAND_OF_DIMENSION(var_mean, auto)
ARGAND_OF_DIMENSION(std_mean, auto)
#undef ARGAND_OF_DIMENSION

}  // namespace argand
