// c10's functions of dtypes, under its names.
#pragma once
#include "argand/ops/print/print.h"
#include "c10/namespaces.h"

namespace c10 {

// Here a dtype is a ScalarType; in LibTorch, TypeMeta is a second type for it.
inline ScalarType typeMetaToScalarType(ScalarType t) { return t; }
inline std::optional<ScalarType> optTypeMetaToScalarType(std::optional<ScalarType> t) { return t; }
inline ScalarType scalarTypeToTypeMeta(ScalarType t) { return t; }
inline const char* toString(ScalarType t) { return dtype_cpp_name(t); }

constexpr bool isIntegralType(ScalarType t, bool include_bool) { return is_integral(t, include_bool); }
constexpr bool isFloatingType(ScalarType t) { return is_floating_point(t); }
constexpr bool isReducedFloatingType(ScalarType t) { return t == kHalf || t == kBFloat16; }
constexpr bool isComplexType(ScalarType t) { return is_complex(t); }
// harmless: there are no quantized types
constexpr bool isQIntType(ScalarType) { return false; }
constexpr bool isSignedType(ScalarType t) { return is_signed(t); }
constexpr size_t elementSize(ScalarType t) { return static_cast<size_t>(element_size(t)); }
constexpr ScalarType toComplexType(ScalarType t) { return to_complex_type(t); }
constexpr ScalarType toRealValueType(ScalarType t) { return to_real_type(t); }
constexpr ScalarType toUnderlying(ScalarType t) { return t; }
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return promote_types(a, b); }
inline bool canCast(ScalarType from, ScalarType to) { return can_cast(from, to); }

template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, scalar_type_v<T>> {};
namespace impl {
template <ScalarType t>
struct ScalarTypeToCPPType : cpp_type<t> {};
template <ScalarType t>
using ScalarTypeToCPPTypeT = typename cpp_type<t>::type;
}  // namespace impl

}  // namespace c10
