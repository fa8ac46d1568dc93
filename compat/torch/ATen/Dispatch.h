// AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "name", [&] { ... scalar_t ... }): runs the lambda with scalar_t as the
// C++ type of a dtype; DtypeError naming `name` for one that is not in the list.
#pragma once
#include "argand/core/dispatch.h"
#include "c10/namespaces.h"

#define AT_DISPATCH_CASE(enum_type, ...)                                   \
  case enum_type: {                                                        \
    using scalar_t [[maybe_unused]] = ::argand::cpp_type<enum_type>::type; \
    return __VA_ARGS__();                                                  \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                         \
  [&] {                                                             \
    const ::argand::ScalarType argand_dispatched = TYPE;            \
    switch (argand_dispatched) {                                    \
      __VA_ARGS__                                                   \
      default:                                                      \
        ::argand::throw_unsupported_dtype(NAME, argand_dispatched); \
    }                                                               \
  }()

// clang-format off
#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                    \
  AT_DISPATCH_CASE(::argand::ScalarType::Double, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::argand::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                            \
  AT_DISPATCH_CASE(::argand::ScalarType::ComplexDouble, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::argand::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                  \
  AT_DISPATCH_CASE(::argand::ScalarType::Byte, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::argand::ScalarType::Char, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::argand::ScalarType::Int, __VA_ARGS__)    \
  AT_DISPATCH_CASE(::argand::ScalarType::Long, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::argand::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
// clang-format on

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::argand::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(T1, T2, TYPE, NAME, ...)                                    \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                    \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(T2, __VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(T1, T2, TYPE, NAME, ...)                                    \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(T2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...)                                \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(T2, __VA_ARGS__) AT_DISPATCH_CASE(T3, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
