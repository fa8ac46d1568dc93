#include "bindings/overrides.h"

#include <algorithm>

#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/items.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

enum class Off : int { kNothing, kSubclasses, kAll };
thread_local Off off = Off::kNothing;

// Thrown when all handlers returned NotImplemented, so that Python tries the other operand of an operator.
struct NobodyKnows : nb::python_error {};

// The calling thread's modes, the innermost last.  Never destroyed: a thread may end after the interpreter.
thread_local std::vector<nb::object>* modes = nullptr;

bool asks_modes() { return modes && !modes->empty() && off != Off::kAll; }
void push_mode(nb::object mode) {
  if (!modes) modes = new std::vector<nb::object>;
  modes->push_back(std::move(mode));
}
// REQUIRES that there is one.
nb::object pop_mode() {
  nb::object mode = std::move(modes->back());
  modes->pop_back();
  return mode;
}

PyTypeObject* parameter_type = nullptr;
PyObject* not_overriding = nullptr;  // _C._disabled_torch_function_impl

bool is_plain(PyTypeObject* type) {
  return type == tensor_type || type == parameter_type || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == Py_TYPE(Py_None) || type == &PyUnicode_Type || type == dtype_type ||
         type == device_type || type == size_type || type == layout_type || type == memory_format_type ||
         type == generator_type || type == &PySlice_Type || type == Py_TYPE(Py_Ellipsis) || type == &PyList_Type ||
         type == &PyTuple_Type;
}

// Whether a list with this first element is data (numbers, texts, lists), whose elements are not asked for overrides.
bool is_data(PyObject* first) {
  PyTypeObject* const type = Py_TYPE(first);
  return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
         type == &PyList_Type || type == &PyTuple_Type;
}

bool overrides(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (is_plain(type)) return false;
  PyObject* const method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__torch_function__");
  if (!method) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(method);
  return method != not_overriding;
}

// Calls f(argument) for each argument that may override, and each element of a tuple or list.  Looking for
// `__torch_function__` may run Python code of a metaclass, so an element of a list is kept alive, and the size is asked
// again for each: a list of tensors is not copied for a question whose answer is nearly always no.
template <class F>
bool any_of_arguments(PyObject* const* arguments, size_t n, const F& f) {
  for (size_t i = 0; i < n; ++i) {
    PyObject* const a = arguments[i];
    if (PyTuple_Check(a)) {
      for (Py_ssize_t k = 0; k < PyTuple_Size(a); ++k)
        if (f(PyTuple_GetItem(a, k))) return true;
    } else if (PyList_Check(a)) {
      if (PyList_Size(a) == 0 || is_data(PyList_GetItem(a, 0))) continue;
      for (Py_ssize_t k = 0; k < PyList_Size(a); ++k) {
        const Held item(PyList_GetItem(a, k));
        if (f(item.get())) return true;
      }
    } else if (!is_plain(Py_TYPE(a)) && f(a)) {
      return true;
    }
  }
  return false;
}

// One argument of each class that overrides: in their order, but a subclass before its bases.
// Kept alive: the handler of one may empty the list that holds the next.
std::vector<nb::object> overriding(PyObject* const* arguments, size_t n) {
  std::vector<nb::object> found;
  any_of_arguments(arguments, n, [&](PyObject* a) {
    if (!overrides(a)) return false;
    const auto of_same_type = [a](const nb::object& other) { return Py_TYPE(other.ptr()) == Py_TYPE(a); };
    if (std::ranges::any_of(found, of_same_type)) return false;
    const auto base = std::ranges::find_if(
        found, [a](const nb::object& other) { return PyType_IsSubtype(Py_TYPE(a), Py_TYPE(other.ptr())) != 0; });
    found.insert(base, nb::borrow(a));
    return false;
  });
  return found;
}

nb::object types_of(const std::vector<nb::object>& objects) {
  nb::list types;
  for (const nb::object& o : objects) types.append(o.type());
  return nb::tuple(types);
}

// Calls the innermost mode, which is off while it runs.
nb::object ask_mode(nb::handle function, nb::handle types, nb::handle arguments, nb::handle keywords) {
  struct Outer {
    nb::object mode = pop_mode();
    ~Outer() { push_mode(std::move(mode)); }
  } outer;
  const nb::object handler = outer.mode.attr("__torch_function__");
  ARGAND_CHECK(Error, nb::getattr(handler, "__self__", nb::none()).is(outer.mode),
               "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain "
               "method");
  return handler(function, types, arguments, keywords);
}

// "torch.add", "torch.Tensor.add"
std::string full_name(nb::handle function) {
  const nb::object resolved = nb::module_::import_("argand.overrides").attr("resolve_name")(function);
  return shown(resolved.is_none() ? nb::object(nb::getattr(function, "__qualname__", nb::str(function))) : resolved);
}

nb::object ask(nb::handle function, nb::handle arguments, nb::handle keywords, const std::vector<nb::object>& objects) {
  const nb::object types = types_of(objects);
  if (asks_modes()) {
    nb::object result = ask_mode(function, types, arguments, keywords);
    if (result.ptr() != Py_NotImplemented) return result;
  }
  for (const nb::object& o : objects) {
    const nb::object handler = o.attr("__torch_function__");
    if (handler.ptr() != not_overriding && nb::getattr(handler, "__self__", nb::none()).is(o)) {
      // As PyTorch: a deprecation for its functions in Python, and for those in C++ a plain warning.
      PyObject* const category = nb::hasattr(function, "_parameters") ? PyExc_UserWarning : PyExc_DeprecationWarning;
      if (PyErr_WarnEx(category,
                       "Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                       "future, please define it as a classmethod.",
                       1) != 0)
        throw nb::python_error();
    }
    nb::object result = handler(function, types, arguments, keywords);
    if (result.ptr() != Py_NotImplemented) return result;
  }
  std::string message = str("Multiple dispatch failed for '", full_name(function),
                            "'; all __torch_function__ handlers returned NotImplemented:\n");
  for (const nb::object& o : objects) message += str("\n  - tensor subclass ", shown(nb::repr(o.type())));
  set_error(PyExc_TypeError, message);
  throw NobodyKnows();
}

nb::object ask_those_of(nb::handle function, PyObject* const* arguments, size_t num_positional, PyObject* keywords) {
  nb::list positional;
  for (size_t i = 0; i < num_positional; ++i) positional.append(nb::borrow(arguments[i]));
  nb::dict named;
  const size_t num_keywords = keywords ? static_cast<size_t>(PyTuple_Size(keywords)) : 0;
  for (size_t i = 0; i < num_keywords; ++i)
    named[nb::borrow(PyTuple_GetItem(keywords, static_cast<Py_ssize_t>(i)))] =
        nb::borrow(arguments[num_positional + i]);
  std::vector<nb::object> objects;
  if (off == Off::kNothing) objects = overriding(arguments, num_positional + num_keywords);
  return ask(function, nb::tuple(positional), named, objects);
}

nb::object method(const char* name) { return nb::handle(reinterpret_cast<PyObject*>(tensor_type)).attr(name); }

class SwitchOff {
 public:
  explicit SwitchOff(Off what) : what_(what) {}
  // A nested scope turns nothing on again, except kNothing, which turns all on.
  void enter() { before_ = std::exchange(off, what_ == Off::kNothing ? what_ : std::max(off, what_)); }
  void exit() { off = before_; }

 private:
  Off what_, before_ = Off::kNothing;
};
struct SubclassesOff : SwitchOff {
  SubclassesOff() : SwitchOff(Off::kSubclasses) {}
};
struct AllOff : SwitchOff {
  AllOff() : SwitchOff(Off::kAll) {}
};
struct AllOn : SwitchOff {
  AllOn() : SwitchOff(Off::kNothing) {}
};

template <class T>
void add_switch(nb::module_& module, const char* name, const char* text) {
  nb::class_<T>(module, name, text)
      .def(nb::init<>())
      .def("__enter__", [](T& s) { s.enter(); })
      .def("__exit__", [](T& s, nb::args) { s.exit(); });
}

}  // namespace

bool is_overridden(PyObject* const* arguments, size_t n) {
  if (asks_modes()) return true;
  return off == Off::kNothing && any_of_arguments(arguments, n, overrides);
}

PyObject* call_override(PyObject* function, PyObject* const* arguments, size_t num_positional, PyObject* keywords) {
  return guarded([&] { return ask_those_of(function, arguments, num_positional, keywords).release().ptr(); });
}

PyObject* call_override(const char* name, PyObject* self, PyObject* other) {
  PyObject* const arguments[] = {self, other};
  return guarded([&] { return ask_those_of(method(name), arguments, other ? 2 : 1, nullptr).release().ptr(); });
}

PyObject* call_override(const char* name, const char* reflected, PyObject* a, PyObject* b) {
  return guarded([&] {
    const auto asked = [](const char* which, PyObject* x, PyObject* y) -> PyObject* {
      PyObject* const arguments[] = {x, y};
      try {
        return ask_those_of(method(which), arguments, 2, nullptr).release().ptr();
      } catch (const NobodyKnows&) {
        return nullptr;
      }
    };
    PyObject* result = is_tensor(a) ? asked(name, a, b) : nullptr;
    // Between two tensors this is Python's rule, which it does not follow itself: both have the same slot.
    if (!result && reflected && is_tensor(b)) result = asked(reflected, b, a);
    return result ? result : Py_NewRef(Py_NotImplemented);
  });
}

PyObject* override_attribute(const char* name, PyObject* self, PyObject* value) {
  return guarded([&] {
    const nb::object function =
        nb::handle(reinterpret_cast<PyObject*>(tensor_type)).attr(name).attr(value ? "__set__" : "__get__");
    PyObject* const arguments[] = {self, value};
    PyObject* const result = call_override(function.ptr(), arguments, value ? 2 : 1, nullptr);
    if (!result) throw nb::python_error();
    return result;
  });
}

void add_overrides(nb::module_& module) {
  add_switch<SubclassesOff>(module, "DisableTorchFunctionSubclass", "A scope in which classes override nothing.");
  add_switch<AllOff>(module, "DisableTorchFunction", "A scope in which neither classes nor modes override anything.");
  add_switch<AllOn>(module, "_EnabledTorchFunction", "A scope in which classes and modes override again.");
  module.def("_disabled_torch_function_impl", [](nb::object function, nb::object, nb::args arguments, nb::kwargs) {
    SubclassesOff scope;
    scope.enter();
    struct Exit {
      SubclassesOff& scope;
      ~Exit() { scope.exit(); }
    } exit{scope};
    const size_t n = nb::len(arguments);
    const nb::object positional = n > 0 ? nb::object(arguments[0]) : nb::object(nb::tuple());
    const nb::object keywords = n > 1 ? nb::object(arguments[1]) : nb::object(nb::none());
    PyObject* const result =
        PyObject_Call(function.ptr(), positional.ptr(), keywords.is_none() ? nullptr : keywords.ptr());
    if (!result) throw nb::python_error();
    return nb::steal(result);
  });
  not_overriding = nb::object(module.attr("_disabled_torch_function_impl")).release().ptr();
  module.def("_set_parameter_type",
             [](nb::object type) { parameter_type = reinterpret_cast<PyTypeObject*>(type.release().ptr()); });
  // For functions written in Python.
  module.def("_is_overridden", [](nb::tuple arguments) {
    std::vector<PyObject*> all;
    for (const nb::handle a : arguments) all.push_back(a.ptr());
    return is_overridden(all.data(), all.size());
  });
  module.def("_call_override", [](nb::object function, nb::tuple relevant, nb::tuple arguments, nb::dict keywords) {
    std::vector<PyObject*> all;
    for (const nb::handle a : relevant) all.push_back(a.ptr());
    std::vector<nb::object> objects;
    if (off == Off::kNothing) objects = overriding(all.data(), all.size());
    return ask(function, arguments, keywords, objects);
  });
  module.def("_push_torch_function_mode", push_mode);
  module.def("_pop_torch_function_mode", [] {
    ARGAND_CHECK(ValueError, modes && !modes->empty(), "there is no torch function mode to leave");
    return pop_mode();
  });
  module.def("_torch_function_modes", [] {
    nb::list all;
    if (modes)
      for (const nb::object& mode : *modes) all.append(mode);
    return all;
  });
  module.def("_is_torch_function_enabled", [] { return off == Off::kNothing; });
  module.def("_is_torch_function_all_disabled", [] { return off == Off::kAll; });
}

}  // namespace argand::python
