// The objects by which Python calls ops: functions of modules and methods of Tensor.
#include <Python.h>
#include <structmember.h>

#include "bindings/call.h"
#include "bindings/einsum.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  const FunctionTable* table;
  PyObject* dict;  // packages set attributes on functions
};

PyTypeObject* function_type = nullptr;
PyTypeObject* method_type = nullptr;

const FunctionTable& table_of(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self)->table; }

size_t count(size_t num_positional, PyObject* keywords) {
  return num_positional + (keywords ? static_cast<size_t>(PyTuple_Size(keywords)) : 0);
}

PyObject* call_object(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* keywords) {
  const size_t n = static_cast<size_t>(PyVectorcall_NARGS(flags));
  if (is_overridden(arguments, count(n, keywords))) {
    const bool is_packed = n == 2 && !keywords && (PyTuple_Check(arguments[1]) || PyList_Check(arguments[1])) &&
                           table_of(self).takes_sublists;
    return is_packed ? override_einsum(self, arguments[0], arguments[1]) : call_override(self, arguments, n, keywords);
  }
  return call_function(table_of(self), arguments, n, keywords);
}
PyObject* call_method(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* keywords) {
  const size_t n = static_cast<size_t>(PyVectorcall_NARGS(flags));
  if (is_overridden(arguments, count(n, keywords))) return call_override(self, arguments, n, keywords);
  if (n == 0 || !is_tensor(arguments[0])) {
    PyErr_Format(PyExc_TypeError, "descriptor '%s' of Tensor needs a Tensor, not %s", table_of(self).name,
                 n ? type_name(arguments[0]).c_str() : "nothing");
    return nullptr;
  }
  return call_function(table_of(self), arguments, n, keywords);
}
PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  if (!object) return Py_NewRef(self);
  // PyMethod_New is not in the stable ABI.
  static PyObject* const bound = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  return PyObject_CallFunctionObjArgs(bound, self, object, nullptr);
}
PyObject* name_of(PyObject* self, void*) { return PyUnicode_FromString(table_of(self).name); }
PyObject* documentation_of(PyObject* self, void*) {
  std::string text;
  for (const Overload& o : table_of(self).overloads)
    if (*o.signature) text += str(table_of(self).name, "(", o.signature, ")\n");
  return PyUnicode_FromString((text + "\n" + table_of(self).documentation).c_str());
}
// The type of several results; None if one is returned.
PyObject* results_of(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    for (const Overload& o : table_of(self).overloads)
      if (o.result_names) return Py_XNewRef(reinterpret_cast<PyObject*>(result_type(table_of(self), o)));
    return Py_NewRef(Py_None);
  });
}
// The parameters of the first overload that can be called by position: [(name, has a default, keyword only)].
PyObject* parameters_of(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const auto overloads = table_of(self).overloads;
    const auto by_position = std::ranges::find_if(overloads, [](const Overload& o) {
      return std::ranges::none_of(o.parameters, [](const Parameter& p) { return p.keyword_only && !p.has_default; });
    });
    nb::list all;
    for (const Parameter& p : (by_position == overloads.end() ? overloads.front() : *by_position).parameters)
      all.append(nb::make_tuple(p.name, p.has_default, p.keyword_only));
    return all.release().ptr();
  });
}
PyObject* describe(PyObject* self) { return PyUnicode_FromFormat("<built-in function %s>", table_of(self).name); }
// Pickled by name, as functions of Python's are.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::string name = str(Py_TYPE(self) == method_type ? "Tensor." : "", table_of(self).name);
    const nb::object find = nb::module_::import_("argand._functions").attr("_by_name");
    return nb::make_tuple(find, nb::make_tuple(name.c_str())).release().ptr();
  });
}
void forget(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_CLEAR(reinterpret_cast<FunctionObject*>(self)->dict);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// __module__ is "torch", unless a program sets another.  No property: type(f).__module__ would be that.
PyObject* attribute_of(PyObject* self, PyObject* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__module__") != 0) return PyObject_GenericGetAttr(self, name);
  PyObject* const dict = reinterpret_cast<FunctionObject*>(self)->dict;
  PyObject* const found = dict ? PyDict_GetItemWithError(dict, name) : nullptr;
  if (!found && PyErr_Occurred()) return nullptr;
  return found ? Py_NewRef(found) : PyUnicode_FromString("torch");
}

PyGetSetDef function_properties[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                     {"__name__", name_of, nullptr, nullptr, nullptr},
                                     {"__qualname__", name_of, nullptr, nullptr, nullptr},
                                     {"__doc__", documentation_of, nullptr, nullptr, nullptr},
                                     {"_return_type", results_of, nullptr, nullptr, nullptr},
                                     {"_parameters", parameters_of, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef function_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(forget)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_repr, reinterpret_cast<void*>(describe)},
                                {Py_tp_getattro, reinterpret_cast<void*>(attribute_of)},
                                {Py_tp_getset, function_properties},
                                {Py_tp_methods, function_methods},
                                {Py_tp_members, function_members},
                                {0, nullptr}};
PyType_Slot method_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(forget)},
                              {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                              {Py_tp_repr, reinterpret_cast<void*>(describe)},
                              {Py_tp_getattro, reinterpret_cast<void*>(attribute_of)},
                              {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                              {Py_tp_getset, function_properties},
                              {Py_tp_methods, function_methods},
                              {Py_tp_members, function_members},
                              {0, nullptr}};
PyType_Spec function_spec = {"argand._C.function", sizeof(FunctionObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};
PyType_Spec method_spec = {"argand._C.method", sizeof(FunctionObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                           method_slots};

nb::object function_object(PyTypeObject* type, const FunctionTable& table, vectorcallfunc call) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* const self = allocate(type, 0);
  if (!self) throw nb::python_error();
  reinterpret_cast<FunctionObject*>(self)->call = call;
  reinterpret_cast<FunctionObject*>(self)->table = &table;
  return nb::steal(self);
}

void set_attribute(PyObject* owner, const char* name, const nb::object& value) {
  if (PyObject_SetAttrString(owner, name, value.ptr()) != 0) throw nb::python_error();
}

}  // namespace

void add_function(PyObject* owner, const FunctionTable& table) {
  set_attribute(owner, table.name, function_object(function_type, table, call_object));
}
void add_method(PyTypeObject* owner, const FunctionTable& table) {
  set_attribute(reinterpret_cast<PyObject*>(owner), table.name, function_object(method_type, table, call_method));
}
void add_function_types(nb::module_& module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&function_spec));
  method_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&method_spec));
  if (!function_type || !method_type) throw nb::python_error();
  set_attribute(module.ptr(), "function", nb::borrow(reinterpret_cast<PyObject*>(function_type)));
  set_attribute(module.ptr(), "method", nb::borrow(reinterpret_cast<PyObject*>(method_type)));
}

}  // namespace argand::python
