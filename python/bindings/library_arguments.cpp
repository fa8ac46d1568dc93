#include "bindings/library_arguments.h"

#include "argand/autograd/dict.h"
#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/numbers.h"
#include "bindings/tensor_object.h"
#include "bindings/torchscript.h"

namespace argand::python {
namespace {

using SchemaKind = SchemaType::Kind;

// As Python writes the type.
std::string text_of(const SchemaType& type) {
  switch (type.kind) {
    case SchemaKind::Optional:
      return "Optional[" + text_of(type.element[0]) + "]";
    case SchemaKind::List:
      return "List[" + text_of(type.element[0]) + "]";
    case SchemaKind::Dict:
      return "Dict[" + text_of(type.element[0]) + ", " + text_of(type.element[1]) + "]";
    case SchemaKind::Scalar:
      return "number";
    case SchemaKind::Tuple:
      return type.str();
    default:
      return type.name == "SymInt" ? "int" : type.name;
  }
}

// What a value of Python's is for a kernel; nothing if the type does not take it.
class Converter {
 public:
  std::optional<IValue> operator()(const SchemaType& type, PyObject* o) const {
    switch (type.kind) {
      case SchemaKind::Tensor:
        return is_tensor(o) ? std::optional<IValue>(as_tensor(o)) : std::nullopt;
      case SchemaKind::Int:
        return integer(type.name, o);
      case SchemaKind::Float:
        return is_float(o, false) && !PyBool_Check(o) ? std::optional<IValue>(to_double(o)) : std::nullopt;
      case SchemaKind::Bool:
        return PyBool_Check(o) || is_bool(o) ? std::optional<IValue>(PyObject_IsTrue(o) == 1) : std::nullopt;
      case SchemaKind::Str:
        return PyUnicode_Check(o) ? std::optional<IValue>(shown(o)) : std::nullopt;
      case SchemaKind::Scalar:
        return is_number(o, false) ? std::optional<IValue>(IValue(to_scalar(o))) : std::nullopt;
      case SchemaKind::Device: {
        const std::optional<Device> device = PyLong_Check(o) ? std::nullopt : as_device(o);
        return device ? std::optional<IValue>(*device) : std::nullopt;
      }
      case SchemaKind::Generator:
        return PyObject_TypeCheck(o, generator_type) ? std::optional<IValue>(nb::cast<Generator>(nb::handle(o)))
                                                     : std::nullopt;
      case SchemaKind::Optional:
        return o == Py_None ? std::optional<IValue>(IValue()) : (*this)(type.element[0], o);
      case SchemaKind::List:
        return list(type, o);
      case SchemaKind::Tuple:
        return tuple(type, o);
      case SchemaKind::Dict:
        return dict(type, o);
    }
    return std::nullopt;
  }

 private:
  static std::optional<IValue> integer(const std::string& name, PyObject* o) {
    if (name == "ScalarType") {
      const std::optional<ScalarType> dtype = as_dtype(o);
      return dtype ? std::optional<IValue>(static_cast<int64_t>(*dtype)) : std::nullopt;
    }
    if (name == "Layout") {
      if (o != strided_layout()) return std::nullopt;
      return static_cast<int64_t>(Layout::Strided);
    }
    if (name == "MemoryFormat") {
      if (!PyObject_TypeCheck(o, memory_format_type)) return std::nullopt;
      return static_cast<int64_t>(nb::cast<MemoryFormat>(nb::handle(o)));
    }
    return is_integer(o, false) ? std::optional<IValue>(to_integer(o)) : std::nullopt;
  }

  std::optional<std::vector<IValue>> elements(const SchemaType& type, PyObject* o) const {
    std::vector<IValue> out;
    for (const nb::handle e : nb::handle(o)) {
      std::optional<IValue> value = (*this)(type, e.ptr());
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
    }
    return out;
  }

  std::optional<IValue> list(const SchemaType& type, PyObject* o) const {
    const SchemaType& of = type.element[0];
    if (!PyList_Check(o) && !PyTuple_Check(o)) {  // int[2] takes one number for both
      std::optional<IValue> one = type.size > 0 ? (*this)(of, o) : std::nullopt;
      if (!one) return std::nullopt;
      return typed(of, std::vector<IValue>(static_cast<size_t>(type.size), *one));
    }
    std::optional<std::vector<IValue>> values = elements(of, o);
    return values ? std::optional<IValue>(typed(of, std::move(*values))) : std::nullopt;
  }
  static IValue typed(const SchemaType& of, std::vector<IValue> values) {
    const auto all = [&]<class T>(T (IValue::*get)() const) {
      std::vector<T> out;
      for (const IValue& v : values) out.push_back((v.*get)());
      return IValue(std::move(out));
    };
    if (of.kind == SchemaKind::Int) return all(&IValue::toInt);
    if (of.kind == SchemaKind::Float) return all(&IValue::toDouble);
    if (of.kind != SchemaKind::Tensor) return IValue(std::move(values));
    std::vector<Tensor> out;
    for (const IValue& v : values) out.push_back(v.toTensor());
    return out;
  }

  std::optional<IValue> tuple(const SchemaType& type, PyObject* o) const {
    if (!PyTuple_Check(o) || PyTuple_Size(o) != static_cast<Py_ssize_t>(type.element.size())) return std::nullopt;
    std::vector<IValue> out;
    for (size_t i = 0; i < type.element.size(); ++i) {
      std::optional<IValue> value = (*this)(type.element[i], PyTuple_GetItem(o, static_cast<Py_ssize_t>(i)));
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
    }
    return IValue(ivalue::Tuple::create(std::move(out)));
  }

  std::optional<IValue> dict(const SchemaType& type, PyObject* o) const {
    if (!PyDict_Check(o)) return std::nullopt;
    const Dict<IValue, IValue> out;
    for (const auto [key, value] : nb::borrow<nb::dict>(o)) {
      const std::optional<IValue> k = (*this)(type.element[0], key.ptr()), v = (*this)(type.element[1], value.ptr());
      if (!k || !v) return std::nullopt;
      out.insert_or_assign(*k, *v);
    }
    return IValue(out);
  }
};

IValue converted(const FunctionSchema& schema, size_t place, PyObject* object) {
  const Argument& argument = schema.arguments()[place];
  std::optional<IValue> value = Converter()(argument.type(), object);
  ARGAND_CHECK(Error, value, schema.name(), "() Expected a value of type '", text_of(argument.type()),
               "' for argument '", argument.name(), "' but instead found type '", type_name(object),
               "'.\nPosition: ", place, "\nValue: ", shown(nb::steal(PyObject_Repr(object))),
               "\nDeclaration: ", schema.str());
  return std::move(*value);
}

}  // namespace

Stack bound(const FunctionSchema& schema, const nb::tuple& args, const nb::dict& kwargs) {
  const std::vector<Argument>& arguments = schema.arguments();
  size_t by_place = 0, used = 0;
  while (by_place < arguments.size() && !arguments[by_place].kwarg_only()) ++by_place;
  ARGAND_CHECK(Error, args.size() <= by_place, schema.name(), "() expected at most ", by_place,
               " argument(s) but received ", args.size(), " argument(s). Declaration: ", schema.str());
  Stack stack;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    PyObject* const named = PyDict_GetItemString(kwargs.ptr(), a.name().c_str());
    used += named != nullptr;
    ARGAND_CHECK(Error, !named || i >= args.size(), schema.name(), "() got two values for argument '", a.name(),
                 "'. Declaration: ", schema.str());
    if (i < args.size() || named) {
      const nb::object value = i < args.size() ? nb::object(args[i]) : nb::borrow(named);
      stack.push_back(converted(schema, i, value.ptr()));
    } else {
      ARGAND_CHECK(Error, a.default_value(), schema.name(), "() is missing value for argument '", a.name(),
                   "'. Declaration: ", schema.str());
      stack.push_back(*a.default_value());
    }
  }
  if (used == kwargs.size()) return stack;
  for (const auto [key, value] : kwargs) {
    const std::string name = shown(key);
    const bool known =
        std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.name() == name; });
    ARGAND_CHECK(Error, known, "Unknown keyword argument '", name, "' for operator '", schema.name(),
                 "'. Schema: ", schema.str());
  }
  return stack;
}

nb::object results_of(const FunctionSchema& schema, const Stack& results) {
  const auto object_of = [&](size_t i) {
    const SchemaType* const type = i < schema.returns().size() ? &schema.returns()[i].type() : nullptr;
    if (type && type->name == "ScalarType" && results[i].isInt())
      return owned(wrap(static_cast<ScalarType>(results[i].toInt())));
    return to_object(results[i]);
  };
  if (results.empty()) return nb::none();
  if (results.size() == 1) return object_of(0);
  nb::list out;
  for (size_t i = 0; i < results.size(); ++i) out.append(object_of(i));
  return nb::tuple(out);
}

}  // namespace argand::python
