#include "argand/serialize/pickle.h"

#include "argand/autograd/dict.h"
#include "argand/autograd/typed_list.h"
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

std::vector<IValue> elements_of(const Value& v) {
  std::vector<IValue> out;
  for (size_t i = 0; i < v.size(); ++i) out.push_back(to_ivalue(v[i]));
  return out;
}

IValue to_ivalue(const Value& v) {
  using Kind = Value::Kind;
  if (v.is_dict()) {
    Dict<IValue, IValue> out;
    for (size_t i = 0; i < v.size(); ++i) out.insert(to_ivalue(v.key(i)), to_ivalue(v.value(i)));
    return out;
  }
  if (const std::optional<IValue> plain = plain_ivalue(v)) return *plain;
  switch (v.kind()) {
    case Kind::kSize:
    case Kind::kList:
      return typed_list(elements_of(v));
    case Kind::kTuple:
      return ivalue::Tuple::create(elements_of(v));
    default:
      ARGAND_THROW(ValueError, "pickle_load: no IValue holds a value of kind ", Value::kind_name(v.kind()));
  }
}

}  // namespace

std::optional<IValue> plain_ivalue(const Value& v) {
  using Kind = Value::Kind;
  if (v.is_tensor()) return v.tensor();
  switch (v.kind()) {
    case Kind::kNone:
      return IValue();
    case Kind::kBool:
      return v.to_bool();
    case Kind::kInt:
      return v.to_int();
    case Kind::kDouble:
      return v.to_double();
    case Kind::kComplex:
      return IValue(v.to_complex());
    case Kind::kString:
      return v.text();
    case Kind::kDevice:
      return v.device();
    default:
      return std::nullopt;
  }
}

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
