#include "argand/jit/op_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "argand/jit/dtype_numbers.h"

namespace argand::jit {

namespace {

using Base = ParameterType::Base;
using Kind = IValue::Kind;

struct Name {
  std::string_view text;
  Base base;
};
constexpr std::array<Name, 15> kBases = {{{"Tensor", Base::kTensor},
                                          {"Tensor|Scalar", Base::kTensorOrScalar},
                                          {"Scalar", Base::kScalar},
                                          {"int", Base::kInt},
                                          {"SymInt", Base::kInt},
                                          {"float", Base::kFloat},
                                          {"bool", Base::kBool},
                                          {"str", Base::kStr},
                                          {"ScalarType", Base::kDtype},
                                          {"Layout", Base::kLayout},
                                          {"MemoryFormat", Base::kMemoryFormat},
                                          {"Device", Base::kDevice},
                                          {"Generator", Base::kGenerator},
                                          {"TensorOptions", Base::kOptions},
                                          {"t", Base::kOther}}};

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

bool accepts_one(Base base, const IValue& v) {
  switch (base) {
    case Base::kTensor:
      return v.isTensor();
    case Base::kTensorOrScalar:
      return v.isTensor() || v.isScalar();
    case Base::kScalar:
      return v.isScalar();
    case Base::kInt:
      return v.isInt();
    case Base::kFloat:
      return v.isDouble() || v.isInt();
    case Base::kBool:
      return v.isBool();
    case Base::kStr:
      return v.isString();
    case Base::kDtype:
    case Base::kLayout:
    case Base::kMemoryFormat:
      return v.isInt();
    case Base::kDevice:
      return v.isDevice() || v.isString();
    case Base::kGenerator:
      return v.isGenerator();
    default:
      return false;
  }
}

bool accepts_list(const ParameterType& type, const IValue& v) {
  switch (v.kind()) {
    case Kind::kIntList:
      return type.base == Base::kInt || type.base == Base::kFloat || type.base == Base::kScalar ||
             v.toIntVector().empty();
    case Kind::kDoubleList:
      return type.base == Base::kFloat || type.base == Base::kScalar || v.toDoubleVector().empty();
    case Kind::kTensorList:
      return type.base == Base::kTensor || v.toTensorVector().empty();
    case Kind::kList:
      return std::all_of(v.toListRef().begin(), v.toListRef().end(), [&](const IValue& e) {
        return (e.isNone() && type.optional_elements) || accepts_one(type.base, e);
      });
    default:
      // A tuple of numbers where a list must be does not occur; one number for all places does, or for a list that may
      // be absent: any(x, 1).
      return (type.list_size > 0 || (type.optional && type.base == Base::kInt)) && accepts_one(type.base, v);
  }
}

double number(const IValue& v) { return v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble(); }

ArgumentValue one(Base base, const IValue& v) {
  switch (base) {
    case Base::kTensor:
      return v.toTensor();
    case Base::kTensorOrScalar:
      if (v.isTensor()) return v.toTensor();
      return v.toScalar();
    case Base::kScalar:
      return v.toScalar();
    case Base::kInt:
    case Base::kLayout:
      return v.toInt();
    case Base::kFloat:
      return number(v);
    case Base::kBool:
      return v.toBool();
    case Base::kStr:
      return v.toStringRef();
    case Base::kDtype:
      return dtype_of_number(v.toInt());
    case Base::kMemoryFormat:
      return memory_format_of_number(v.toInt());
    case Base::kDevice:
      return v.isString() ? Device(v.toStringRef()) : v.toDevice();
    case Base::kGenerator:
      return v.toGenerator();
    default:
      return {};
  }
}

// All elements, one value of another kind for each place, by `get`.
template <class Out, class Get>
Out elements(const ParameterType& type, const IValue& v, Get get) {
  Out out;
  switch (v.kind()) {
    case Kind::kIntList:
      for (const int64_t e : v.toIntVector()) out.push_back(get(IValue(e)));
      break;
    case Kind::kDoubleList:
      for (const double e : v.toDoubleVector()) out.push_back(get(IValue(e)));
      break;
    case Kind::kTensorList:
      for (const Tensor& e : v.toTensorVector()) out.push_back(get(IValue(e)));
      break;
    case Kind::kList:
      for (const IValue& e : v.toListRef()) out.push_back(get(e));
      break;
    default:
      for (size_t i = 0; i < std::max<size_t>(1, type.list_size); ++i) out.push_back(get(v));
  }
  return out;
}

}  // namespace

ParameterType::ParameterType(std::string_view text) {
  optional = take_end(text, "?");
  if (take_end(text, "]")) {
    const size_t bracket = text.rfind('[');
    if (bracket == std::string_view::npos) return;
    list = true;
    const std::string_view size = text.substr(bracket + 1);
    if (!size.empty() && std::from_chars(size.data(), size.data() + size.size(), list_size).ec != std::errc()) return;
    text = text.substr(0, bracket);
    optional_elements = take_end(text, "?");
  }
  for (const Name& n : kBases)
    if (n.text == text) base = n.base;
}

bool accepts(const ParameterType& type, const IValue& v) {
  if (v.isNone()) return type.optional || type.base == Base::kGenerator;
  return type.list ? accepts_list(type, v) : accepts_one(type.base, v);
}

ArgumentValue to_argument(const ParameterType& type, const IValue& v) {
  if (v.isNone()) return {};
  if (!type.list) return one(type.base, v);
  switch (type.base) {
    case Base::kTensor:
      if (v.isTensorList()) return v.toTensorVector();
      return elements<std::vector<Tensor>>(type, v,
                                           [](const IValue& e) { return e.isNone() ? Tensor() : e.toTensor(); });
    case Base::kInt:
      if (v.isIntList()) return Dims(v.toIntVector());
      return elements<Dims>(type, v, [](const IValue& e) { return e.toInt(); });
    case Base::kFloat:
      if (v.isDoubleList()) return v.toDoubleVector();
      return elements<std::vector<double>>(type, v, number);
    case Base::kBool:
      return elements<std::vector<bool>>(type, v, [](const IValue& e) { return e.toBool(); });
    case Base::kScalar:
      return elements<std::vector<Scalar>>(type, v, [](const IValue& e) { return e.toScalar(); });
    default:
      ARGAND_THROW(NotImplementedError, "a list of this type is no argument of an op");
  }
}

IValue from_result(ArgumentValue&& result) {
  return std::visit(
      [](auto&& v) -> IValue {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return {};
        else if constexpr (std::is_same_v<T, Scalar>) {
          if (v.isBoolean()) return v.toBool();
          if (v.isComplex()) return IValue(v);
          return v.isFloatingPoint() ? IValue(v.toDouble()) : IValue(v.toLong());
        } else if constexpr (std::is_same_v<T, ScalarType>)
          return number_of(v);
        else if constexpr (std::is_same_v<T, MemoryFormat>)
          return static_cast<int64_t>(v);
        else if constexpr (std::is_same_v<T, Dims>)
          return std::vector<int64_t>(v.begin(), v.end());
        else if constexpr (std::is_same_v<T, std::vector<Scalar>>)
          return std::vector<IValue>(v.begin(), v.end());
        else if constexpr (std::is_same_v<T, TensorOptions>)
          ARGAND_THROW(NotImplementedError, "an op returned options of tensors");
        else
          return IValue(std::forward<decltype(v)>(v));
      },
      std::move(result));
}

}  // namespace argand::jit
