// From a run-time dtype to a compile-time element type:
//   dispatch<kAllTypes>(dtype, "sort", [&](auto tag) { using T = typename decltype(tag)::type; ... });
// A dtype outside the set throws DtypeError naming the op.
#pragma once
#include "argand/base/error.h"
#include "argand/core/dtype.h"

namespace argand {

// Sets of dtypes, one bit each.
using DtypeSet = uint32_t;
constexpr DtypeSet dtype_bit(ScalarType t) { return DtypeSet{1} << static_cast<int>(t); }
inline constexpr DtypeSet kFloatTypes = dtype_bit(kFloat) | dtype_bit(kDouble);
inline constexpr DtypeSet kHalfTypes = dtype_bit(kHalf) | dtype_bit(kBFloat16);
inline constexpr DtypeSet kFloatingTypes = kFloatTypes | kHalfTypes;
inline constexpr DtypeSet kComplexTypes = dtype_bit(kComplexFloat) | dtype_bit(kComplexDouble);
inline constexpr DtypeSet kIntTypes =
    dtype_bit(kByte) | dtype_bit(kChar) | dtype_bit(kShort) | dtype_bit(kInt) | dtype_bit(kLong);
inline constexpr DtypeSet kBoolType = dtype_bit(kBool);
inline constexpr DtypeSet kRealTypes = kFloatingTypes | kIntTypes | kBoolType;
inline constexpr DtypeSet kAllTypes = kRealTypes | kComplexTypes;
constexpr bool contains(DtypeSet set, ScalarType t) { return (set & dtype_bit(t)) != 0; }

[[noreturn]] void throw_unsupported_dtype(const char* op, ScalarType t);

template <DtypeSet kSet, class F>
decltype(auto) dispatch(ScalarType t, const char* op, F&& f) {
#define ARGAND_CASE(T, Name)                           \
  if constexpr (contains(kSet, ScalarType::Name)) {    \
    if (t == ScalarType::Name) return f(TypeTag<T>{}); \
  }
  ARGAND_FORALL_DTYPES(ARGAND_CASE)
#undef ARGAND_CASE
  throw_unsupported_dtype(op, t);
}

// Arithmetic type of T: float for Half and BFloat16, T itself otherwise.
template <class T>
struct op_math {
  using type = T;
};
template <>
struct op_math<Half> {
  using type = float;
};
template <>
struct op_math<BFloat16> {
  using type = float;
};
template <class T>
using op_math_t = typename op_math<T>::type;

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

}  // namespace argand
