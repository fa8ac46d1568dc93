#include "argand/jit/types.h"

#include <algorithm>
#include <array>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"

namespace argand::jit {

namespace {

using Kind = Type::Kind;
using Tree = Expression::Kind;

struct TypeName {
  std::string_view name;
  Kind kind;
};
constexpr std::array<TypeName, 19> kNames = {{{"Any", Kind::kAny},
                                              {"None", Kind::kNone},
                                              {"NoneType", Kind::kNone},
                                              {"Tensor", Kind::kTensor},
                                              {"int", Kind::kInt},
                                              {"Layout", Kind::kInt},
                                              {"ScalarType", Kind::kInt},
                                              {"MemoryFormat", Kind::kInt},
                                              {"float", Kind::kFloat},
                                              {"complex", Kind::kComplex},
                                              {"number", Kind::kNumber},
                                              {"Scalar", Kind::kNumber},
                                              {"bool", Kind::kBool},
                                              {"str", Kind::kStr},
                                              {"Device", Kind::kDevice},
                                              {"Generator", Kind::kGenerator},
                                              {"torch.Generator", Kind::kGenerator},
                                              {"t", Kind::kAny},
                                              {"AnyClassType", Kind::kAny}}};

constexpr const char* kAnyTuple = "tuple";  // the name of a tuple type that says nothing of the elements

// "a.b.c", or "" for another expression.
std::string dotted(const Expression& e) {
  if (e.kind == Tree::kName) return e.text;
  if (e.is_none()) return "None";
  if (e.kind != Tree::kAttribute) return "";
  const std::string before = dotted(e.parts[0]);
  return before.empty() ? "" : before + "." + e.text;
}

[[noreturn]] void refuse(const Expression& e, const Source& source, const std::string& what) {
  throw SyntaxError(source.name, e.line, what);
}

Type named(const Expression& e, const Source& source) {
  const std::string name = dotted(e);
  for (const TypeName& n : kNames)
    if (n.name == name) return {n.kind, "", {}};
  if (name.starts_with("__torch__.torch.classes."))
    refuse(e, source, str("the type ", name, " belongs to a class that is written in C++, which is not supported"));
  if (name.starts_with("__torch__.")) return {Kind::kClass, name, {}};
  const Type any = {Kind::kAny, "", {}};
  if (name == "list" || name == "List") return {Kind::kList, "", {any}};
  if (name == "dict" || name == "Dict") return {Kind::kDict, "", {any, any}};
  if (name == "tuple" || name == "Tuple") return {Kind::kTuple, kAnyTuple, {}};
  refuse(e, source, name.empty() ? "expected a type" : str("the type ", name, " is not supported"));
}

bool all_of_kind(const IValue& list, IValue::Kind kind) {
  const std::vector<IValue>& elements = list.toListRef();
  return std::all_of(elements.begin(), elements.end(), [&](const IValue& e) { return e.kind() == kind; });
}

template <class T, class Get>
IValue typed(const IValue& list, Get get) {
  std::vector<T> out;
  for (const IValue& e : list.toListRef()) out.push_back(get(e));
  return out;
}

bool is_empty_list(const IValue& v) {
  switch (v.kind()) {
    case IValue::Kind::kIntList:
      return v.toIntVector().empty();
    case IValue::Kind::kDoubleList:
      return v.toDoubleVector().empty();
    case IValue::Kind::kTensorList:
      return v.toTensorVector().empty();
    case IValue::Kind::kList:
      return v.toListRef().empty();
    default:
      return false;
  }
}

// The address by which a container is known; null for other values.
const void* identity_of(const IValue& v) {
  switch (v.kind()) {
    case IValue::Kind::kIntList:
      return &v.toIntVector();
    case IValue::Kind::kDoubleList:
      return &v.toDoubleVector();
    case IValue::Kind::kTensorList:
      return &v.toTensorVector();
    case IValue::Kind::kList:
      return &v.toListRef();
    case IValue::Kind::kTuple:
      return v.toTuple().get();
    case IValue::Kind::kDict:
      return v.dict_elements().get();
    default:
      return nullptr;
  }
}

// conform() of an element of somebody else's container; `changed` becomes true if it is another value now.
bool conform_element(IValue& v, const Type& type, bool& changed) {
  const IValue::Kind kind = v.kind();
  const void* const identity = identity_of(v);
  if (!conform(v, type)) return false;
  changed |= kind != v.kind() || identity != identity_of(v);
  return true;
}

bool conform_list(IValue& v, const Type& element) {
  if (is_empty_list(v)) {
    const IValue empty = empty_list(element);
    if (empty.kind() != v.kind()) v = empty;
    return true;
  }
  const IValue::Kind kind = v.kind();
  switch (element.kind) {
    case Kind::kAny:
      return v.isList();
    case Kind::kInt:
      if (kind == IValue::Kind::kIntList) return true;
      if (kind != IValue::Kind::kList || !all_of_kind(v, IValue::Kind::kInt)) return false;
      v = typed<int64_t>(v, [](const IValue& e) { return e.toInt(); });
      return true;
    case Kind::kFloat:
      if (kind == IValue::Kind::kDoubleList) return true;
      if (kind == IValue::Kind::kIntList) {
        const std::vector<int64_t>& ints = v.toIntVector();
        v = std::vector<double>(ints.begin(), ints.end());
        return true;
      }
      if (kind != IValue::Kind::kList) return false;
      for (const IValue& e : v.toListRef())
        if (!e.isDouble() && !e.isInt()) return false;
      v = typed<double>(v, [](const IValue& e) { return e.isInt() ? static_cast<double>(e.toInt()) : e.toDouble(); });
      return true;
    case Kind::kTensor:
      if (kind == IValue::Kind::kTensorList) return true;
      if (kind != IValue::Kind::kList || !all_of_kind(v, IValue::Kind::kTensor)) return false;
      v = typed<Tensor>(v, [](const IValue& e) { return e.toTensor(); });
      return true;
    default:
      break;
  }
  if (!v.isList()) return false;
  // Lists of ints, floats and tensors have kinds of their own only where their type says no more than that.
  bool changed = kind != IValue::Kind::kList;
  std::vector<IValue> elements = v.toList().vec();
  for (IValue& e : elements)
    if (!conform_element(e, element, changed)) return false;
  if (changed) v = std::move(elements);
  return true;
}

bool conform_dict(IValue& v, const Type& type) {
  if (!v.isGenericDict()) return false;
  bool changed = false;
  const Dict<IValue, IValue> out;
  for (auto [key, value] : v.dict_elements()->entries) {
    if (!conform_element(key, type.elements[0], changed) || !conform_element(value, type.elements[1], changed))
      return false;
    out.insert(std::move(key), std::move(value));
  }
  if (changed) v = out;
  return true;
}

bool conform_tuple(IValue& v, const Type& type) {
  if (!v.isTuple() || v.toTupleRef().size() != type.elements.size()) return false;
  std::vector<IValue> elements = v.toTupleRef().elements();
  bool changed = false;
  for (size_t i = 0; i < elements.size(); ++i)
    if (!conform_element(elements[i], type.elements[i], changed)) return false;
  if (changed) v = ivalue::Tuple::create(std::move(elements));
  return true;
}

size_t depth_of(const IValue& v, size_t left) {
  const auto deepest = [&](const std::vector<IValue>& elements) {
    size_t out = 0;
    for (const IValue& e : elements) {
      out = std::max(out, left == 0 ? size_t{0} : depth_of(e, left - 1));
      if (out >= left) break;
    }
    return out + 1;
  };
  if (v.isGenericList()) return deepest(v.toListRef());
  if (v.isTuple()) return deepest(v.toTupleRef().elements());
  if (!v.isGenericDict()) return 0;
  size_t out = 0;
  for (const auto& [key, value] : v.dict_elements()->entries)
    out = std::max(out, left == 0 ? size_t{0} : depth_of(value, left - 1));
  return out + 1;
}

}  // namespace

std::string Type::str() const {
  const auto inside = [&](const char* name) {
    std::string out = std::string(name) + "[";
    for (size_t i = 0; i < elements.size(); ++i) out += (i > 0 ? ", " : "") + elements[i].str();
    return out + "]";
  };
  switch (kind) {
    case Kind::kOptional:
      return inside("Optional");
    case Kind::kUnion:
      return inside("Union");
    case Kind::kList:
      return inside("List");
    case Kind::kDict:
      return inside("Dict");
    case Kind::kTuple:
      return name == kAnyTuple ? name : inside("Tuple");
    case Kind::kClass:
      return name;
    default:
      break;
  }
  for (const TypeName& n : kNames)
    if (n.kind == kind) return std::string(n.name);
  return "Any";
}

Type type_of(const Expression& e, const Source& source) {
  if (e.kind != Tree::kSubscript) return named(e, source);
  const std::string base = dotted(e.parts[0]);
  std::vector<Type> elements;
  if (e.parts[1].kind == Tree::kTuple)
    for (const Expression& part : e.parts[1].parts) elements.push_back(type_of(part, source));
  else
    elements.push_back(type_of(e.parts[1], source));
  const auto of = [&](Kind kind, size_t count) {
    if (elements.size() != count)
      refuse(e, source, str("expected ", count, " types between the brackets of ", base, ", got ", elements.size()));
    return Type{kind, "", std::move(elements)};
  };
  if (base == "List" || base == "list") return of(Kind::kList, 1);
  if (base == "Optional") return of(Kind::kOptional, 1);
  if (base == "Dict" || base == "dict") return of(Kind::kDict, 2);
  if (base == "Tuple" || base == "tuple") return of(Kind::kTuple, elements.size());
  if (base == "Union") return of(Kind::kUnion, elements.size());
  if (base == "Future" || base == "Final" || base == "Await") return of(Kind::kOptional, 1).elements[0];
  refuse(e, source, base.empty() ? "expected a type" : str("the type ", base, " is not supported"));
}

IValue empty_list(const Type& element) {
  switch (element.kind) {
    case Kind::kInt:
      return std::vector<int64_t>();
    case Kind::kFloat:
      return std::vector<double>();
    case Kind::kTensor:
      return std::vector<Tensor>();
    default:
      return std::vector<IValue>();
  }
}

bool is_of_type(const IValue& v, const Type& type) {
  const auto all = [](const std::vector<IValue>& elements, const Type& t) {
    return std::all_of(elements.begin(), elements.end(), [&](const IValue& e) { return is_of_type(e, t); });
  };
  switch (type.kind) {
    case Kind::kAny:
      return true;
    case Kind::kNone:
      return v.isNone();
    case Kind::kTensor:
      return v.isTensor();
    case Kind::kInt:
      return v.isInt();
    case Kind::kFloat:
      return v.isDouble();
    case Kind::kComplex:
      return v.isComplexDouble();
    case Kind::kNumber:
      return v.isScalar() && !v.isBool();
    case Kind::kBool:
      return v.isBool();
    case Kind::kStr:
      return v.isString();
    case Kind::kDevice:
      return v.isDevice();
    case Kind::kGenerator:
      return v.isGenerator();
    case Kind::kOptional:
      return v.isNone() || is_of_type(v, type.elements[0]);
    case Kind::kUnion:
      return std::any_of(type.elements.begin(), type.elements.end(), [&](const Type& t) { return is_of_type(v, t); });
    case Kind::kList: {
      if (is_empty_list(v)) return true;
      const Kind element = type.elements[0].kind;
      if (v.isIntList()) return element == Kind::kInt || element == Kind::kAny;
      if (v.isDoubleList()) return element == Kind::kFloat || element == Kind::kAny;
      if (v.isTensorList()) return element == Kind::kTensor || element == Kind::kAny;
      return v.isGenericList() && all(v.toListRef(), type.elements[0]);
    }
    case Kind::kDict:
      if (!v.isGenericDict()) return false;
      for (const auto& [key, value] : v.dict_elements()->entries)
        if (!is_of_type(key, type.elements[0]) || !is_of_type(value, type.elements[1])) return false;
      return true;
    case Kind::kTuple: {
      if (type.name == kAnyTuple) return v.isTuple();
      if (!v.isTuple() || v.toTupleRef().size() != type.elements.size()) return false;
      for (size_t i = 0; i < type.elements.size(); ++i)
        if (!is_of_type(v.toTupleRef().elements()[i], type.elements[i])) return false;
      return true;
    }
    case Kind::kClass:
      if (v.isTuple()) return v.toTupleRef().names() && v.toTupleRef().names()->type == type.name;
      return v.isObject() && v.toObject()->type_name() == type.name;
  }
  return false;
}

bool conform(IValue& v, const Type& type) {
  switch (type.kind) {
    case Kind::kFloat:
      if (v.isInt()) v = static_cast<double>(v.toInt());
      return v.isDouble();
    case Kind::kDevice:
      if (v.isString()) v = Device(v.toStringRef());
      return v.isDevice();
    case Kind::kOptional:
      return v.isNone() || conform(v, type.elements[0]);
    case Kind::kUnion:
      return is_of_type(v, type) || std::any_of(type.elements.begin(), type.elements.end(),
                                                [&](const Type& t) { return t.kind != Kind::kAny && conform(v, t); });
    case Kind::kList:
      return conform_list(v, type.elements[0]);
    case Kind::kDict:
      return conform_dict(v, type);
    case Kind::kTuple:
      return type.name == kAnyTuple ? v.isTuple() : conform_tuple(v, type);
    case Kind::kComplex:
      return v.isScalar() && !v.isBool();
    case Kind::kNumber:
      return v.isScalar();
    case Kind::kClass:
      // An interface is any object; a named tuple may come without its names.
      return v.isObject() || v.isTuple();
    default:
      return is_of_type(v, type);
  }
}

void check_depth(const IValue& value, size_t max) {
  ARGAND_CHECK(ValueError, depth_of(value, max) <= max, "containers nested deeper than ", max);
}

}  // namespace argand::jit
