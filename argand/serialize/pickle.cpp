#include "argand/serialize/pickle.h"

#include <algorithm>

#include "argand/autograd/dict.h"
#include "argand/io/torch_file.h"

namespace argand {
namespace {

using io::Value;

Value to_value(const IValue& v);

template <class Elements>
std::vector<Value> to_values(const Elements& elements) {
  std::vector<Value> out;
  for (const auto& e : elements) out.push_back(to_value(IValue(e)));
  return out;
}

Value to_value(const IValue& v) {
  if (v.isNone()) return {};
  if (v.isTensor()) return v.toTensor();
  if (v.isBool()) return v.toBool();
  if (v.isInt()) return v.toInt();
  if (v.isDouble()) return v.toDouble();
  if (v.isString()) return v.toStringRef();
  if (v.isDevice()) return v.toDevice();
  if (v.isIntList()) return Value::list(to_values(v.toIntVector()));
  if (v.isDoubleList()) return Value::list(to_values(v.toDoubleVector()));
  if (v.isTensorList()) return Value::list(to_values(v.toTensorVector()));
  if (v.isGenericList()) return Value::list(to_values(v.toListRef()));
  if (v.isTuple()) return Value::tuple(to_values(v.toTupleRef().elements()));
  ARGAND_CHECK(ValueError, v.isGenericDict(), "pickle_save: a value of type ", v.tagKind(), " cannot be saved");
  Value out = Value::dict();
  for (const auto& [key, mapped] : v.dict_elements()->entries) out.set(to_value(key), to_value(mapped));
  return out;
}

IValue to_ivalue(const Value& v);

// A list of one type as LibTorch has it.
IValue list_of(std::vector<IValue> elements) {
  const auto all = [&](bool (IValue::*is)() const) {
    return !elements.empty() &&
           std::all_of(elements.begin(), elements.end(), [&](const IValue& e) { return (e.*is)(); });
  };
  if (all(&IValue::isInt)) {
    std::vector<int64_t> out;
    for (const IValue& e : elements) out.push_back(e.toInt());
    return out;
  }
  if (all(&IValue::isDouble)) {
    std::vector<double> out;
    for (const IValue& e : elements) out.push_back(e.toDouble());
    return out;
  }
  if (all(&IValue::isTensor)) {
    std::vector<Tensor> out;
    for (const IValue& e : elements) out.push_back(e.toTensor());
    return out;
  }
  return elements;
}

std::vector<IValue> elements_of(const Value& v) {
  std::vector<IValue> out;
  for (size_t i = 0; i < v.size(); ++i) out.push_back(to_ivalue(v[i]));
  return out;
}

IValue to_ivalue(const Value& v) {
  using Kind = Value::Kind;
  if (v.is_tensor()) return v.tensor();
  if (v.is_dict()) {
    Dict<IValue, IValue> out;
    for (size_t i = 0; i < v.size(); ++i) out.insert(to_ivalue(v.key(i)), to_ivalue(v.value(i)));
    return out;
  }
  switch (v.kind()) {
    case Kind::kNone:
      return {};
    case Kind::kBool:
      return v.to_bool();
    case Kind::kInt:
      return v.to_int();
    case Kind::kDouble:
      return v.to_double();
    case Kind::kString:
      return v.text();
    case Kind::kDevice:
      return v.device();
    case Kind::kSize:
    case Kind::kList:
      return list_of(elements_of(v));
    case Kind::kTuple:
      return ivalue::Tuple::create(elements_of(v));
    default:
      ARGAND_THROW(ValueError, "pickle_load: no IValue holds a value of kind ", Value::kind_name(v.kind()));
  }
}

}  // namespace

std::vector<char> pickle_save(const IValue& value) {
  std::vector<char> out;
  io::write_torch(to_value(value), "archive", [&](const void* bytes, size_t n) {
    const char* first = static_cast<const char*>(bytes);
    out.insert(out.end(), first, first + n);
  });
  return out;
}

IValue pickle_load(const std::vector<char>& data) {
  io::LoadOptions options;
  options.script_names = true;
  const std::string_view bytes(data.data(), data.size());
  return to_ivalue(io::load_torch(io::MemorySource("pickle_load", bytes), options));
}

}  // namespace argand
