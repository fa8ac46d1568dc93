#include "bindings/overridable.h"

#include <structmember.h>

#include "bindings/errors.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

struct Overridable {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
  PyObject* normalize;  // gives (positional, keywords) for *arguments, **keywords, as those who override see them; null
  PyObject* dict;
};

Overridable& of(PyObject* self) { return *reinterpret_cast<Overridable*>(self); }

PyObject* call(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* keywords) {
  const auto n = static_cast<size_t>(PyVectorcall_NARGS(flags));
  const size_t all = n + (keywords ? static_cast<size_t>(PyTuple_Size(keywords)) : 0);
  if (!is_overridden(arguments, all)) return PyObject_Vectorcall(of(self).function, arguments, flags, keywords);
  if (!of(self).normalize) return call_override(self, arguments, n, keywords);
  return guarded([&]() -> PyObject* {
    const nb::object pair = nb::steal(PyObject_Vectorcall(of(self).normalize, arguments, flags, keywords));
    if (!pair.is_valid()) throw nb::python_error();
    const nb::tuple positional(pair[0]);
    const nb::dict named(pair[1]);
    std::vector<PyObject*> values;
    nb::list names;
    for (const nb::handle a : positional) values.push_back(a.ptr());
    for (const auto& [name, value] : named) {
      names.append(name);
      values.push_back(value.ptr());
    }
    return call_override(self, values.data(), nb::len(positional), nb::tuple(names).ptr());
  });
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *function = nullptr, *normalize = nullptr;
  if (!PyArg_ParseTuple(arguments, "O|O:overridable", &function, &normalize)) return nullptr;
  PyObject* const self = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return nullptr;
  of(self).call = call;
  of(self).function = Py_NewRef(function);
  of(self).normalize = normalize && normalize != Py_None ? Py_NewRef(normalize) : nullptr;
  return self;
}

void forget(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_CLEAR(of(self).function);
  Py_CLEAR(of(self).normalize);
  Py_CLEAR(of(self).dict);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* wrapped(PyObject* self, void*) { return Py_NewRef(of(self).function); }
PyObject* attribute(PyObject* self, PyObject* name) {
  // No property: type(f).__module__ would be that.
  if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0) return PyObject_GetAttr(of(self).function, name);
  if (PyObject* const found = PyObject_GenericGetAttr(self, name)) return found;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
  PyErr_Clear();
  return PyObject_GetAttr(of(self).function, name);  // __code__, __defaults__, ...
}
PyObject* of_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(of(self).function, static_cast<const char*>(name));
}
PyObject* describe(PyObject* self) { return PyObject_Repr(of(self).function); }
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (!object) return Py_NewRef(self);
  static PyObject* const bound = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  return PyObject_CallFunctionObjArgs(bound, self, object, nullptr);
}
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(of(self).function, "__qualname__"); }

void* text(const char* name) { return const_cast<char*>(name); }
PyGetSetDef properties[] = {{"__wrapped__", wrapped, nullptr, nullptr, nullptr},
                            {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {"__name__", of_function, nullptr, nullptr, text("__name__")},
                            {"__qualname__", of_function, nullptr, nullptr, text("__qualname__")},
                            {"__doc__", of_function, nullptr, nullptr, text("__doc__")},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Overridable, call), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(Overridable, dict), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(forget)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(describe)},
                       {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_getset, properties},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {0, nullptr}};
constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
PyType_Spec function_spec = {"argand._C.overridable", sizeof(Overridable), 0, kFlags, slots};
PyType_Spec method_spec = {"argand._C.overridable_method", sizeof(Overridable), 0, kFlags, slots};

}  // namespace

void add_overridable(nb::module_& module) {
  for (const auto& [name, spec] :
       {std::pair{"overridable", &function_spec}, std::pair{"overridable_method", &method_spec}}) {
    const nb::object type = nb::steal(PyType_FromSpec(spec));
    if (!type.is_valid()) throw nb::python_error();
    module.attr(name) = type;
  }
}

}  // namespace argand::python
