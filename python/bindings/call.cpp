#include "bindings/call.h"

#include <algorithm>
#include <set>

#include "argand/base/log.h"
#include "argand/exec/invoke.h"
#include "bindings/constants.h"
#include "bindings/einsum.h"
#include "bindings/errors.h"
#include "bindings/items.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

// A tensor that requires grad cannot be a number argument of an op: its gradient would be lost.
bool is_attribute(PyObject* object, bool strict) {
  return is_number(object, strict) && !(is_tensor(object) && as_tensor(object).requires_grad());
}

bool accepts(const Parameter& p, PyObject* object, bool strict) {
  if (object == Py_None) return p.optional || p.kind == Kind::kAny || (p.kind == Kind::kIntList && p.has_default);
  switch (p.kind) {
    case Kind::kTensor:
      return is_tensor(object);
    case Kind::kTensorOrNumber:
      return is_tensor(object) || is_number(object, strict);
    case Kind::kTensorList:
      return is_list_of(object, [](PyObject* o) { return is_tensor(o) || o == Py_None; });
    case Kind::kInt:
      return is_integer(object, strict);
    case Kind::kIntList:
      return is_list_of(object, [&](PyObject* o) { return is_integer(o, strict); }) ||
             (p.length > 0 && is_integer(object, strict));
    case Kind::kFloat:
      return is_float(object, strict);
    case Kind::kFloatList:
      return is_list_of(object, [&](PyObject* o) { return is_float(o, strict); });
    case Kind::kBool:
      return is_bool(object);
    case Kind::kBoolList:
      return is_list_of(object, is_bool);
    case Kind::kText:
      return PyUnicode_Check(object);
    case Kind::kScalar:
      return is_attribute(object, strict);
    case Kind::kScalarList:
      return is_list_of(object, [&](PyObject* o) { return is_attribute(o, strict); });
    case Kind::kDtype:
      return as_dtype(object).has_value();
    case Kind::kLayout:
      return PyObject_TypeCheck(object, layout_type);
    case Kind::kDevice:
      return PyObject_TypeCheck(object, device_type) || PyUnicode_Check(object) || is_integer(object, true);
    case Kind::kMemoryFormat:
      return PyObject_TypeCheck(object, memory_format_type);
    case Kind::kGenerator:
      return PyObject_TypeCheck(object, generator_type);
    case Kind::kAny:
      return true;
  }
  return false;
}

std::string kind_text(const Parameter& p) {
  switch (p.kind) {
    case Kind::kTensor:
      return "Tensor";
    case Kind::kTensorOrNumber:
      return "Tensor or Number";
    case Kind::kTensorList:
      return "tuple of Tensors";
    case Kind::kInt:
      return "int";
    case Kind::kIntList:
      return "tuple of ints";
    case Kind::kFloat:
      return "float";
    case Kind::kFloatList:
      return "tuple of floats";
    case Kind::kBool:
      return "bool";
    case Kind::kBoolList:
      return "tuple of bools";
    case Kind::kText:
      return "str";
    case Kind::kScalar:
      return "Number";
    case Kind::kScalarList:
      return "tuple of Numbers";
    case Kind::kDtype:
      return "torch.dtype";
    case Kind::kLayout:
      return "torch.layout";
    case Kind::kDevice:
      return "torch.device";
    case Kind::kMemoryFormat:
      return "torch.memory_format";
    case Kind::kGenerator:
      return "Generator";
    case Kind::kAny:
      return "object";
  }
  return "";
}

// The names NumPy's users know for some parameters.
std::initializer_list<const char*> numpy_names(std::string_view name) {
  static constexpr std::initializer_list<const char*> dim = {"axis"}, dim0 = {"axis0"}, dim1 = {"axis1"},
                                                      keepdim = {"keepdims"}, input = {"x", "a", "x1"}, other = {"x2"};
  return name == "dim"       ? dim
         : name == "dim0"    ? dim0
         : name == "dim1"    ? dim1
         : name == "keepdim" ? keepdim
         : name == "input"   ? input
         : name == "other"   ? other
                             : std::initializer_list<const char*>{};
}

PyObject* find_keyword(const Parameter& p, PyObject* const* values, PyObject* keywords, size_t* used) {
  const auto find = [&](const char* name) -> PyObject* {
    for (Py_ssize_t k = 0; k < PyTuple_Size(keywords); ++k)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, k), name) == 0) {
        ++*used;
        return values[k];
      }
    return nullptr;
  };
  PyObject* found = find(p.name);
  for (const char* other : numpy_names(p.name))
    if (!found) found = find(other);
  return found;
}

std::string list_types(PyObject* const* arguments, size_t num_positional, PyObject* keywords) {
  std::string text;
  const size_t num_keywords = keywords ? static_cast<size_t>(PyTuple_Size(keywords)) : 0;
  const auto describe = [](PyObject* object) {
    if (!is_sequence(object)) return type_name(object);
    const bool tuple = PyTuple_Check(object);
    const Items items(object);
    std::string inner;
    for (Py_ssize_t i = 0; i < std::min<Py_ssize_t>(items.size(), 4); ++i)
      inner += (i ? ", " : "") + type_name(items[i]);
    return (tuple ? "tuple of (" : "list of [") + inner + (items.size() > 4 ? ", ..." : "") + (tuple ? ")" : "]");
  };
  for (size_t i = 0; i < num_positional + num_keywords; ++i) {
    if (i) text += ", ";
    if (i >= num_positional)
      text += to_text(PyTuple_GetItem(keywords, static_cast<Py_ssize_t>(i - num_positional))) + "=";
    text += describe(arguments[i]);
  }
  return text;
}

// The number of arguments that messages do not count: 1 for the object of a method.
size_t hidden(const Overload& overload) {
  return !overload.parameters.empty() && std::string_view(overload.parameters[0].name) == "self" ? 1 : 0;
}

// Warns once for each signature, or each time after set_warn_always().
void warn_of_old_order(const FunctionTable& table, const Overload& overload) {
  static std::set<const Overload*> warned;  // the interpreter's lock is held
  if (!warned.insert(&overload).second && !warns_always()) return;
  std::string text = str("This overload of ", table.name, " is deprecated:\n\t", table.name, "(");
  for (size_t i = hidden(overload); i < overload.parameters.size(); ++i) {
    const Parameter& p = overload.parameters[i];
    text += str(i > hidden(overload) ? ", " : "", kind_text(p), " ", p.name);
  }
  text += ")\nConsider using one of the following signatures instead:";
  for (const Overload& other : table.overloads)
    if (*other.signature != 0) text += str("\n\t", table.name, "(", other.signature, ")");
  warn(text);
}

[[noreturn]] void raise_type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

}  // namespace

// Why an overload does not take the arguments.
struct Call::Refusal {
  std::string message;
};

bool Call::bind(const FunctionTable& table, const Overload& overload, PyObject* const* arguments, size_t num_positional,
                PyObject* keywords, bool strict, Refusal* why) {
  table_ = &table;
  overload_ = &overload;
  const auto parameters = overload.parameters;
  const size_t num_keywords = keywords ? static_cast<size_t>(PyTuple_Size(keywords)) : 0;
  size_t positional = 0;  // parameters that may be given by position
  while (positional < parameters.size() && !parameters[positional].keyword_only) ++positional;
  const auto refuse = [&](auto&&... parts) {
    if (why) why->message = str(table.name, "()", parts...);
    return false;
  };
  // All that are missing from parameter `first` on, in PyTorch's words.
  const auto missing_from = [&](size_t first) {
    std::string names;
    int count = 0;
    for (size_t i = first; i < parameters.size(); ++i) {
      size_t ignored = 0;
      if (parameters[i].has_default || (i > first && num_keywords > 0 &&
                                        find_keyword(parameters[i], arguments + num_positional, keywords, &ignored)))
        continue;
      names += str(count++ ? ", \"" : "\"", parameters[i].name, '"');
    }
    return str(" missing ", count, " required positional arguments: ", names);
  };
  // view(2, 3), zeros(2, 3): if a list is the only argument, its numbers may be given one by one; so may tensors if the
  // parameter says so.
  size_t lists_at = num_positional;
  const auto integers_from = [&](size_t i) {
    return is_integer(arguments[i], strict) && std::none_of(arguments + i, arguments + num_positional, is_sequence);
  };
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (i + 1 == positional && parameters[i].kind == Kind::kIntList && parameters[i].length == 0 &&
        num_positional > i && integers_from(i)) {
      lists_at = i;
    }
    if (i + 1 == positional && parameters[i].one_by_one && num_positional > i && is_tensor(arguments[i])) lists_at = i;
  }
  if (lists_at < num_positional) {
    gathered_ = owned(PyTuple_New(static_cast<Py_ssize_t>(num_positional - lists_at)));
    for (size_t i = lists_at; i < num_positional; ++i)
      PyTuple_SetItem(gathered_.ptr(), static_cast<Py_ssize_t>(i - lists_at), Py_NewRef(arguments[i]));
  } else if (num_positional > positional) {
    const size_t takes = positional - hidden(overload), given = num_positional - hidden(overload);
    return refuse(" takes ", takes, " positional argument", takes == 1 ? "" : "s", " but ", given,
                  given == 1 ? " was" : " were", " given");
  }
  size_t used = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    PyObject* object = nullptr;
    const bool by_position = i < std::min(num_positional, positional);
    if (by_position) object = i == lists_at ? gathered_.ptr() : arguments[i];
    if (num_keywords && used < num_keywords) {
      PyObject* const named = find_keyword(p, arguments + num_positional, keywords, &used);
      if (named && by_position) return refuse(" got multiple values for argument '", p.name, "'");
      if (named) object = named;
    }
    values_[i] = object;
    if (!object) {
      if (p.one_by_one && num_positional <= i && num_keywords == 0) {  // none of any number
        gathered_ = owned(PyTuple_New(0));
        values_[i] = gathered_.ptr();
        continue;
      }
      if (!p.has_default) return refuse(missing_from(i));
      continue;
    }
    if (!accepts(p, object, strict)) {
      return refuse(": argument '", p.name, "'", by_position ? str(" (position ", i + 1 - hidden(overload), ")") : "",
                    " must be ", kind_text(p), ", not ", type_name(object));
    }
  }
  if (used < num_keywords) {
    for (size_t k = 0; k < num_keywords; ++k) {
      const std::string name = to_text(PyTuple_GetItem(keywords, static_cast<Py_ssize_t>(k)));
      const bool known = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) {
        const auto others = numpy_names(p.name);
        return name == p.name || std::find(others.begin(), others.end(), name) != others.end();
      });
      if (!known) return refuse(" got an unexpected keyword argument '", name, "'");
    }
  }
  return true;
}

namespace {

// Several results under their names, where they are the tuple or list that the program gave as out=.
PyObject* named(const FunctionTable& table, const Overload& overload, PyObject* answer) {
  if (!answer || !overload.result_names || !(PyTuple_CheckExact(answer) || PyList_CheckExact(answer))) return answer;
  const nb::object given = nb::steal(answer), items = nb::steal(PySequence_Tuple(given.ptr()));
  PyTypeObject* const type = result_type(table, overload);
  const nb::object out = nb::steal(type && items.is_valid() ? PyStructSequence_New(type) : nullptr);
  if (!out.is_valid()) return nullptr;
  const Py_ssize_t n = PyTuple_Size(items.ptr());
  for (Py_ssize_t i = 0; i < n; ++i) PyStructSequence_SetItem(out.ptr(), i, Py_NewRef(PyTuple_GetItem(items.ptr(), i)));
  return nb::object(out).release().ptr();
}

}  // namespace

PyObject* call_function(const FunctionTable& table, PyObject* const* arguments, size_t num_positional,
                        PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Call call;
    Call::Refusal why;
    const auto run = [&](const Overload& overload) { return named(table, overload, overload.call(call)); };
    if (table.overloads.size() == 1) {
      if (!call.bind(table, table.overloads[0], arguments, num_positional, keywords, false, &why)) {
        if (takes_sublists(table, arguments, num_positional))
          return einsum_of_sublists(table, arguments, num_positional);
        raise_type_error(why.message);
      }
      return run(table.overloads[0]);
    }
    for (const bool strict : {true, false})
      for (const Overload& overload : table.overloads)
        if (call.bind(table, overload, arguments, num_positional, keywords, strict, nullptr)) {
          if (*overload.signature == 0 && overload.parameters.size() > hidden(overload))
            warn_of_old_order(table, overload);
          return run(overload);
        }
    // Messages leave out signatures that are kept for old programs.
    const auto is_shown = [](const Overload& o) { return *o.signature != 0; };
    if (std::ranges::count_if(table.overloads, is_shown) == 1) {
      call.bind(table, table.overloads[0], arguments, num_positional, keywords, false, &why);
      raise_type_error(why.message);
    }
    const size_t skip = std::min(hidden(table.overloads[0]), num_positional);  // the object may be missing
    std::string message = str(table.name, "() received an invalid combination of arguments - got (",
                              list_types(arguments + skip, num_positional - skip, keywords), "), but expected one of:");
    for (const Overload& overload : table.overloads) {
      if (!is_shown(overload)) continue;
      call.bind(table, overload, arguments, num_positional, keywords, false, &why);
      message += str("\n * (", overload.signature, ")\n      didn't match because ", why.message);
    }
    raise_type_error(message);
  });
}

void Call::refuse_element(size_t i, size_t at, const char* expected, PyObject* got) const {
  raise_type_error(str(table_->name, "(): argument '", overload_->parameters[i].name, "' (position ",
                       i + 1 - hidden(*overload_), ") must be ", kind_text(overload_->parameters[i]),
                       ", but found element of type ", type_name(got), " at pos ", at, " where ", expected,
                       " was expected"));
}

bool Call::truth(PyObject* object) {
  const int value = PyObject_IsTrue(object);
  if (value < 0) throw nb::python_error();
  return value != 0;
}

// A floating-point or complex type if the dtype that is asked for, or one of the tensors, has one.
ScalarType Call::widest_type() const {
  ScalarType found = kLong;
  for (size_t i = 0; i < overload_->parameters.size(); ++i) {
    if (!values_[i] || values_[i] == Py_None) continue;
    const Kind kind = overload_->parameters[i].kind;
    if (kind == Kind::kDtype) return dtype(i);
    if (kind != Kind::kTensorList && !is_tensor(values_[i])) continue;
    for (const Tensor& t : kind == Kind::kTensorList ? tensors(i) : std::vector<Tensor>{as_tensor(values_[i])})
      if (t.defined() && !is_integral(t.dtype(), true)) found = t.dtype();
  }
  return found;
}
Scalar Call::number_of(PyObject* object) const {
  return !PyLong_CheckExact(object) || fits_int64(object) ? to_scalar(object) : to_scalar(object, widest_type());
}
const Tensor& Call::tensor(size_t i) const {
  static const Tensor none;
  return values_[i] && values_[i] != Py_None ? as_tensor(values_[i]) : none;
}
Tensor Call::operand(size_t i) const {
  PyObject* const object = values_[i];
  if (!object || object == Py_None) return {};
  return is_tensor(object) ? as_tensor(object) : exec::wrapped_number(number_of(object));
}
std::optional<Tensor> Call::optional_tensor(size_t i) const {
  if (!values_[i] || values_[i] == Py_None) return std::nullopt;
  return as_tensor(values_[i]);
}
std::vector<Tensor> Call::tensors(size_t i) const {
  std::vector<Tensor> out;
  PyObject* const list = values_[i];
  if (!list || list == Py_None) return out;
  const Py_ssize_t n = size_of_sequence(list);
  out.reserve(static_cast<size_t>(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* const object = item_of_sequence(list, k);  // no Python code runs in this loop
    if (object == Py_None)
      out.emplace_back();
    else if (is_tensor(object))
      out.push_back(as_tensor(object));
    else
      refuse_element(i, static_cast<size_t>(k), "Tensor", object);
  }
  return out;
}

template <class T>
static T cast(PyObject* object) {
  return nb::cast<T>(nb::handle(object));
}

// The value of an optional parameter; nothing if it is None or was left out.
#define ARGAND_OPTIONAL(convert)                                 \
  if (!values_[i] || values_[i] == Py_None) return std::nullopt; \
  return convert(values_[i])

std::optional<int64_t> Call::optional_integer(size_t i) const { ARGAND_OPTIONAL(to_integer); }
std::optional<double> Call::optional_number(size_t i) const { ARGAND_OPTIONAL(to_double); }
std::optional<bool> Call::optional_boolean(size_t i) const { ARGAND_OPTIONAL(truth); }
std::optional<std::string> Call::optional_text(size_t i) const { ARGAND_OPTIONAL(to_text); }
std::optional<Scalar> Call::optional_scalar(size_t i) const { ARGAND_OPTIONAL(number_of); }
std::optional<ScalarType> Call::optional_dtype(size_t i) const { ARGAND_OPTIONAL(as_dtype); }
std::optional<Device> Call::optional_device(size_t i) const { ARGAND_OPTIONAL(as_device); }
std::optional<MemoryFormat> Call::optional_memory_format(size_t i) const { ARGAND_OPTIONAL(cast<MemoryFormat>); }
std::optional<Generator> Call::generator(size_t i) const { ARGAND_OPTIONAL(cast<Generator>); }

Dims Call::read_integers(size_t i) const {
  PyObject* const list = values_[i];
  Dims out;
  if (!is_sequence(list)) {
    out.push_back(to_integer(list));
    return out;
  }
  const Items items(list);
  for (Py_ssize_t k = 0; k < items.size(); ++k) {
    PyObject* const object = items[k];
    // As in PyTorch, a bool counts as a size, but not as the first, which tells the overloads apart.
    const bool taken = is_integer(object, false) || (k > 0 && PyBool_Check(object));
    if (!taken) refuse_element(i, static_cast<size_t>(k), "int", object);
    out.push_back(to_integer(object));
  }
  return out;
}
Dims Call::integers(size_t i, Dims otherwise) const {
  return has(i) && values_[i] != Py_None ? read_integers(i) : std::move(otherwise);
}
std::optional<Dims> Call::optional_integers(size_t i) const {
  if (!values_[i] || values_[i] == Py_None) return std::nullopt;
  return read_integers(i);
}
std::optional<std::vector<double>> Call::optional_numbers(size_t i) const {
  PyObject* const list = values_[i];
  if (!list || list == Py_None) return std::nullopt;
  std::vector<double> out;
  const Items items(list);
  for (Py_ssize_t k = 0; k < items.size(); ++k) {
    if (!is_float(items[k], false)) refuse_element(i, static_cast<size_t>(k), "float", items[k]);
    out.push_back(to_double(items[k]));
  }
  return out;
}
std::vector<Scalar> Call::scalars(size_t i) const {
  std::vector<Scalar> out;
  const Items items(values_[i]);
  for (Py_ssize_t k = 0; k < items.size(); ++k) {
    PyObject* const object = items[k];
    if (!is_attribute(object, false)) refuse_element(i, static_cast<size_t>(k), "Number", object);
    out.push_back(number_of(object));
  }
  return out;
}
void Call::read_booleans(size_t i, std::span<bool> out) const {
  const Items items(values_[i]);
  if (static_cast<size_t>(items.size()) != out.size())
    raise_type_error(str(table_->name, "(): argument '", overload_->parameters[i].name, "' must have ", out.size(),
                         " elements, got ", items.size()));
  for (size_t k = 0; k < out.size(); ++k) out[k] = truth(items[static_cast<Py_ssize_t>(k)]);
}
TensorOptions Call::options(size_t i) const {
  if (has(i + 1) && values_[i + 1] != Py_None) check_layout(values_[i + 1]);
  return TensorOptions()
      .dtype(optional_dtype(i))
      .device(optional_device(i + 2))
      .pinned_memory(optional_boolean(i + 3))
      .requires_grad(optional_boolean(i + 4));
}

TensorOptions Call::factory_options(size_t i) const {
  const TensorOptions given = options(i);
  return given.has_device() ? given : given.device(default_device());
}

void Call::check_options(size_t i, const Tensor& out) const {
  const TensorOptions given = options(i);
  ARGAND_CHECK(DtypeError, !given.has_dtype() || given.dtype() == out.dtype(), table_->name, "(): dtype ",
               given.dtype(), " does not match dtype of out parameter (", out.dtype(), ")");
  ARGAND_CHECK(DeviceError, !given.has_device() || given.device() == out.device(), table_->name, "(): device ",
               given.device(), " does not match device of out parameter (", out.device(), ")");
}

// ---- results

PyObject* to_python(std::span<Tensor> tensors) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  if (!tuple.is_valid()) return nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyObject* const item = wrap(std::move(tensors[i]));
    if (!item) return nullptr;
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), item);
  }
  return tuple.release().ptr();
}

namespace {

PyTypeObject* new_result_type(const FunctionTable& table, const Overload& overload) {
  std::vector<PyStructSequence_Field> fields;
  for (const char* const* name = overload.result_names; *name; ++name) fields.push_back({*name, nullptr});
  const auto n = static_cast<int>(fields.size());
  fields.push_back({nullptr, nullptr});
  static std::vector<std::unique_ptr<std::string>> names;  // which types refer to
  names.push_back(std::make_unique<std::string>(str("torch.return_types.", table.name)));
  PyStructSequence_Desc description{names.back()->c_str(), "", fields.data(), n};
  PyTypeObject* const type = PyStructSequence_NewType(&description);
  if (!type) return nullptr;
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  const nb::module_ functions = nb::module_::import_("argand._functions");
  object.attr("__repr__") = functions.attr("_results_text");
  object.attr("__reduce__") = functions.attr("_reduced_results");
  return type;
}

}  // namespace

PyTypeObject* result_type(const FunctionTable& table, const Overload& overload) {
  static std::unordered_map<const Overload*, PyTypeObject*> known;
  static std::unordered_map<std::string, PyTypeObject*> by_name;
  PyTypeObject*& type = known[&overload];
  if (type) return type;
  PyTypeObject*& named = by_name[table.name];
  if (!named) named = new_result_type(table, overload);
  return type = named;
}

PyObject* to_python(const Call& call, std::span<PyObject* const> results) {
  std::vector<nb::object> items;
  for (PyObject* const result : results) items.push_back(nb::steal(result));
  if (!std::ranges::all_of(items, [](const nb::object& item) { return item.is_valid(); })) return nullptr;
  const Overload& overload = call.overload();
  PyTypeObject* const type = overload.result_names ? result_type(call.table(), overload) : nullptr;
  if (overload.result_names && !type) return nullptr;
  nb::object out = nb::steal(type ? PyStructSequence_New(type) : PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  if (!out.is_valid()) return nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    if (type)
      PyStructSequence_SetItem(out.ptr(), at, items[i].release().ptr());
    else
      PyTuple_SetItem(out.ptr(), at, items[i].release().ptr());
  }
  return out.release().ptr();
}

}  // namespace argand::python
