// Element types and PyTorch's promotion rules between them.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"

namespace argand {

enum class ScalarType : int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  ComplexFloat,
  ComplexDouble,
  Bool,
  BFloat16,
  Undefined,
};
inline constexpr int kNumScalarTypes = static_cast<int>(ScalarType::Undefined);
using Dtype = ScalarType;

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplex64 = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble, kComplex128 = ScalarType::ComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

// The C++ type of an element, and the ScalarType of a C++ type.
template <ScalarType>
struct cpp_type;
template <class T>
struct scalar_type_of;
// clang-format off
#define ARGAND_FORALL_DTYPES(X)                                                                                \
  X(uint8_t, Byte)                                                                                             \
  X(int8_t, Char)                                                                                              \
  X(int16_t, Short) X(int32_t, Int) X(int64_t, Long) X(::argand::Half, Half) X(float, Float) X(double, Double) \
      X(std::complex<float>, ComplexFloat) X(std::complex<double>, ComplexDouble) X(bool, Bool)                \
          X(::argand::BFloat16, BFloat16)
// clang-format on
#define ARGAND_MAP(T, Name)                               \
  template <>                                             \
  struct cpp_type<ScalarType::Name> {                     \
    using type = T;                                       \
  };                                                      \
  template <>                                             \
  struct scalar_type_of<T> {                              \
    static constexpr ScalarType value = ScalarType::Name; \
  };
ARGAND_FORALL_DTYPES(ARGAND_MAP)
#undef ARGAND_MAP
template <class T>
inline constexpr ScalarType scalar_type_v = scalar_type_of<T>::value;

constexpr int64_t element_size(ScalarType t) {
  constexpr int8_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 8, 16, 1, 2, 0};
  return sizes[static_cast<int>(t)];
}
constexpr bool is_complex(ScalarType t) { return t == kComplexFloat || t == kComplexDouble; }
constexpr bool is_floating_point(ScalarType t) { return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16; }
constexpr bool is_integral(ScalarType t, bool include_bool = false) {
  return t <= kLong || (include_bool && t == kBool);
}
constexpr bool is_differentiable(ScalarType t) { return is_floating_point(t) || is_complex(t); }
constexpr bool is_signed(ScalarType t) { return t != kByte && t != kBool; }

// complex64 -> float32, complex128 -> float64; other types unchanged.
constexpr ScalarType to_real_type(ScalarType t) {
  return t == kComplexFloat ? kFloat : t == kComplexDouble ? kDouble : t;
}
constexpr ScalarType to_complex_type(ScalarType t) {
  return t == kDouble || t == kComplexDouble ? kComplexDouble : kComplexFloat;
}
// The type arithmetic on `t` is done in: float16 and bfloat16 compute in float32 and are rounded once at the end.
constexpr ScalarType op_math_type(ScalarType t) { return t == kHalf || t == kBFloat16 ? kFloat : t; }

// The smallest type both convert to, as torch.promote_types.
ScalarType promote_types(ScalarType a, ScalarType b);
// Whether a result of type `from` may be written into a tensor of type `to`, as torch.can_cast.
bool can_cast(ScalarType from, ScalarType to);

const char* dtype_name(ScalarType t);      // "float32"
const char* dtype_cpp_name(ScalarType t);  // "Float"
// Accepts "float32", "float", "torch.float32", ...; nothing for an unknown name.
std::optional<ScalarType> parse_dtype(std::string_view name);
inline void append(std::string& out, ScalarType t) { out += dtype_name(t); }

// The dtype of floating literals and of factory functions without one; float32 unless set.
ScalarType get_default_dtype();
void set_default_dtype(ScalarType t);  // a floating dtype, else DtypeError

template <class T>
struct TypeTag {
  using type = T;
};

}  // namespace argand
