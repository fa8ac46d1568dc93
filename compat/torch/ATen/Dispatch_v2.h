// AT_DISPATCH_V2(t.scalar_type(), "name", AT_WRAP([&] { ... scalar_t ... }), AT_EXPAND(AT_ALL_TYPES), kHalf): as
// AT_DISPATCH_ALL_TYPES_AND, with lists that are put together where they are used.
#pragma once
#include "ATen/Dispatch.h"

#define AT_WRAP(...) __VA_ARGS__
#define AT_EXPAND(X) X
#define AT_FLOATING_TYPES ::argand::ScalarType::Double, ::argand::ScalarType::Float
#define AT_INTEGRAL_TYPES                                                                                        \
  ::argand::ScalarType::Byte, ::argand::ScalarType::Char, ::argand::ScalarType::Int, ::argand::ScalarType::Long, \
      ::argand::ScalarType::Short
#define AT_COMPLEX_TYPES ::argand::ScalarType::ComplexDouble, ::argand::ScalarType::ComplexFloat
#define AT_ALL_TYPES AT_INTEGRAL_TYPES, AT_FLOATING_TYPES
#define AT_REDUCED_FLOATING_TYPES ::argand::ScalarType::Half, ::argand::ScalarType::BFloat16
#define AT_ALL_TYPES_AND_COMPLEX AT_ALL_TYPES, AT_COMPLEX_TYPES

// Takes the first dtype off the list as often as there are any: each level of RESCAN scans four times.
#define ARGAND_TORCH_RESCAN(...) \
  ARGAND_TORCH_RESCAN2(ARGAND_TORCH_RESCAN2(ARGAND_TORCH_RESCAN2(ARGAND_TORCH_RESCAN2(__VA_ARGS__))))
#define ARGAND_TORCH_RESCAN2(...) \
  ARGAND_TORCH_RESCAN1(ARGAND_TORCH_RESCAN1(ARGAND_TORCH_RESCAN1(ARGAND_TORCH_RESCAN1(__VA_ARGS__))))
#define ARGAND_TORCH_RESCAN1(...) __VA_ARGS__
#define ARGAND_TORCH_PARENS ()
#define ARGAND_TORCH_EACH_AGAIN() ARGAND_TORCH_EACH
#define ARGAND_TORCH_EACH(body, type, ...)         \
  AT_DISPATCH_CASE(type, ARGAND_TORCH_UNWRAP body) \
  __VA_OPT__(ARGAND_TORCH_EACH_AGAIN ARGAND_TORCH_PARENS(body, __VA_ARGS__))
#define ARGAND_TORCH_UNWRAP(...) __VA_ARGS__
#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, ARGAND_TORCH_RESCAN(ARGAND_TORCH_EACH((BODY), __VA_ARGS__)))
