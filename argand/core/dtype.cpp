#include "argand/core/dtype.h"

#include <atomic>

#include "argand/base/error.h"
#include "argand/core/dtype_element.h"

namespace argand {

static constexpr const char* kNames[] = {"uint8",   "int8",     "int16",    "int32",     "int64",
                                         "float16", "float32",  "float64",  "complex64", "complex128",
                                         "bool",    "bfloat16", "undefined"};
static constexpr const char* kCppNames[] = {"Byte", "Char",     "Short",         "Int",          "Long",
                                            "Half", "Float",    "Double",        "ComplexFloat", "ComplexDouble",
                                            "Bool", "BFloat16", "UNKNOWN_SCALAR"};
static constexpr const char* kElementNames[] = {"unsigned char",
                                                "signed char",
                                                "short int",
                                                "int",
                                                "long int",
                                                "c10::Half",
                                                "float",
                                                "double",
                                                "c10::complex<float>",
                                                "c10::complex<double>",
                                                "bool",
                                                "c10::BFloat16",
                                                "undefined"};

const char* dtype_name(ScalarType t) { return kNames[static_cast<int>(t)]; }
const char* dtype_element_name(ScalarType t) { return kElementNames[static_cast<int>(t)]; }
const char* dtype_cpp_name(ScalarType t) { return kCppNames[static_cast<int>(t)]; }

std::optional<ScalarType> parse_dtype(std::string_view name) {
  if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
  for (int i = 0; i < kNumScalarTypes; ++i)
    if (name == kNames[i]) return static_cast<ScalarType>(i);
  static constexpr std::pair<std::string_view, ScalarType> aliases[] = {
      {"float", kFloat}, {"double", kDouble}, {"half", kHalf},           {"long", kLong},
      {"int", kInt},     {"short", kShort},   {"cfloat", kComplexFloat}, {"cdouble", kComplexDouble},
      {"byte", kByte},   {"char", kChar}};
  for (const auto& [alias, type] : aliases)
    if (name == alias) return type;
  return std::nullopt;
}

// Kinds in promotion order: a type of a higher kind wins over any of a lower one.
static int kind(ScalarType t) {
  if (t == kBool) return 0;
  if (is_integral(t)) return 1;
  return is_floating_point(t) ? 2 : 3;
}

static ScalarType promote_integers(ScalarType a, ScalarType b) {
  if (a == kByte || b == kByte) {  // uint8 joins the signed types at the first that holds both
    const ScalarType other = a == kByte ? b : a;
    return other == kChar ? kShort : other;
  }
  return element_size(a) >= element_size(b) ? a : b;
}

static ScalarType promote_floats(ScalarType a, ScalarType b) {
  if ((a == kHalf && b == kBFloat16) || (a == kBFloat16 && b == kHalf)) return kFloat;
  return element_size(a) >= element_size(b) ? a : b;
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  if (kind(a) < kind(b)) std::swap(a, b);
  if (kind(a) == 3)
    return kind(b) >= 2 && (a == kComplexDouble || b == kDouble || b == kComplexDouble) ? kComplexDouble : a;
  if (kind(a) != kind(b)) return a;
  return kind(a) == 2 ? promote_floats(a, b) : promote_integers(a, b);
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to, true)) return false;
  return from == kBool || to != kBool;
}

static std::atomic<ScalarType> default_dtype{kFloat};

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType t) {
  ARGAND_CHECK(DtypeError, is_floating_point(t), "set_default_dtype: expected a floating-point dtype, got ", t);
  default_dtype.store(t, std::memory_order_relaxed);
}

}  // namespace argand
