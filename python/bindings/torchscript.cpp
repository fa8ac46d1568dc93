// torch.jit.load: archives of TorchScript as objects of Python's (argand/jit).
#include "bindings/torchscript.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/jit/builtins.h"
#include "argand/jit/class.h"
#include "argand/jit/dtype_numbers.h"
#include "argand/jit/function.h"
#include "argand/jit/load.h"
#include "argand/jit/save.h"
#include "bindings/checkpoints.h"
#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

constexpr size_t kMaxNesting = 128;

// An object of a program.  Python's classes for modules are in argand/jit/_script_module.py.
struct ScriptObject {
  jit::ObjectPtr object;

  const jit::Object& get() const { return static_cast<const jit::Object&>(*object); }
};

nb::object from_python_module(const char* name) { return nb::module_::import_("argand.jit._script_module").attr(name); }

template <class Elements>
nb::object to_list(const Elements& elements, size_t depth) {
  nb::list out;
  for (const auto& e : elements) out.append(to_object(IValue(e), depth + 1));
  return out;
}

nb::object to_tuple(const ivalue::Tuple& tuple, size_t depth) {
  const nb::tuple elements(to_list(tuple.elements(), depth));
  if (!tuple.names()) return elements;
  nb::list fields;
  for (const std::string& f : tuple.names()->fields) fields.append(nb::str(f.c_str()));
  return from_python_module("named_tuple")(nb::str(tuple.names()->type.c_str()), nb::tuple(fields), elements);
}

}  // namespace

nb::object to_object(const IValue& v, size_t depth) {
  using Kind = IValue::Kind;
  ARGAND_CHECK(ValueError, depth < kMaxNesting, "a value of a program is nested deeper than ", kMaxNesting);
  switch (v.kind()) {
    case Kind::kNone:
      return nb::none();
    case Kind::kTensor:
      return owned(wrap(v.toTensor()));
    case Kind::kBool:
      return owned(PyBool_FromLong(v.toBool()));
    case Kind::kInt:
      return owned(PyLong_FromLongLong(v.toInt()));
    case Kind::kDouble:
      return owned(PyFloat_FromDouble(v.toDouble()));
    case Kind::kScalar: {
      const IValue number = jit::number_of(v.toScalar());
      if (!number.isComplexDouble()) return to_object(number, depth);
      const std::complex<double> c = number.toComplexDouble();
      return owned(PyComplex_FromDoubles(c.real(), c.imag()));
    }
    case Kind::kString:
      // A text whose bytes are no UTF-8 (chr(200)) is a UnicodeDecodeError, as in PyTorch.
      return owned(
          PyUnicode_DecodeUTF8(v.toStringRef().data(), static_cast<Py_ssize_t>(v.toStringRef().size()), nullptr));
    case Kind::kIntList:
      return to_list(v.toIntVector(), depth);
    case Kind::kDoubleList:
      return to_list(v.toDoubleVector(), depth);
    case Kind::kTensorList:
      return to_list(v.toTensorVector(), depth);
    case Kind::kList:
      return to_list(v.toListRef(), depth);
    case Kind::kTuple:
      return to_tuple(v.toTupleRef(), depth);
    case Kind::kDevice:
      return owned(wrap(v.toDevice()));
    case Kind::kGenerator:
      return nb::cast(v.toGenerator());
    case Kind::kDict: {
      nb::dict out;
      for (const auto& [key, value] : v.dict_elements()->entries)
        if (PyDict_SetItem(out.ptr(), to_object(key, depth + 1).ptr(), to_object(value, depth + 1).ptr()) != 0)
          throw nb::python_error();
      return out;
    }
    case Kind::kObject: {
      nb::object handle = nb::cast(ScriptObject{v.toObject()});
      return v.isModule() ? from_python_module("RecursiveScriptModule")(handle) : handle;
    }
  }
  return nb::none();
}

namespace {

IValue to_value(nb::handle object, size_t depth = 0) {
  PyObject* const o = object.ptr();
  ARGAND_CHECK(ValueError, depth < kMaxNesting, "an argument of a program is nested deeper than ", kMaxNesting);
  const auto elements = [&] {
    std::vector<IValue> out;
    for (const nb::handle e : object) out.push_back(to_value(e, depth + 1));
    return out;
  };
  if (o == Py_None) return {};
  if (is_tensor(o)) return as_tensor(o);
  if (PyBool_Check(o)) return o == Py_True;
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    ARGAND_CHECK(ValueError, overflow == 0, "an integer beyond 64 bits");
    if (n == -1 && PyErr_Occurred()) throw nb::python_error();
    return static_cast<int64_t>(n);
  }
  if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
  if (PyComplex_Check(o)) return IValue(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (PyUnicode_Check(o)) return shown(object);
  if (PyObject_TypeCheck(o, device_type)) return *as_device(o);
  if (PyObject_TypeCheck(o, dtype_type)) return jit::number_of(*as_dtype(o));
  if (PyObject_TypeCheck(o, generator_type)) return nb::cast<Generator>(object);
  if (PyTuple_Check(o) && !PyObject_TypeCheck(o, size_type)) return ivalue::Tuple::create(elements());
  if (PyList_Check(o) || PyTuple_Check(o)) {
    std::vector<IValue> values = elements();
    return typed_list(values);
  }
  if (PyDict_Check(o)) {
    const Dict<IValue, IValue> out;
    for (const auto [key, value] : nb::borrow<nb::dict>(object))
      out.insert_or_assign(to_value(key, depth + 1), to_value(value, depth + 1));
    return out;
  }
  if (nb::isinstance<ScriptObject>(object)) return nb::cast<ScriptObject>(object).object;
  if (PyObject_HasAttrString(o, "_c") && nb::isinstance<ScriptObject>(object.attr("_c")))
    return nb::cast<ScriptObject>(object.attr("_c")).object;
  ARGAND_THROW(ValueError, "no program takes an object of the type ", type_name(o));
}

// Python's object, or the error of what has no counterpart there.
nb::object given(const IValue& v) { return to_object(v); }

class Contents {
 public:
  explicit Contents(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Contents() { PyBuffer_Release(&buffer_); }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  std::string_view view() const { return {static_cast<const char*>(buffer_.buf), static_cast<size_t>(buffer_.len)}; }

 private:
  Py_buffer buffer_{};
};

// `source`: a path in bytes of the file system, or an object with memory.  `extra`: a dict whose values are replaced.
nb::object load(nb::handle source, bool is_path, nb::handle device, nb::dict extra) {
  std::optional<Device> place;
  if (!device.is_none()) place = as_device(device.ptr());
  jit::ExtraFilesMap files;
  for (const auto [name, value] : extra) files.emplace(shown(name), "");
  const Contents contents(source);
  const jit::Module module = translated([&] {
    const std::string_view bytes = contents.view();
    const NoGil no_gil;
    if (is_path) return jit::load(io::InputFile(std::string(bytes)), place, &files);
    return jit::load(io::MemorySource("file object", bytes), place, &files);
  });
  for (const auto& [name, content] : files)
    extra[nb::str(name.c_str(), name.size())] = nb::bytes(content.data(), content.size());
  return nb::cast(ScriptObject{module._ivalue()});
}

// `to`: a path in bytes of the file system, or the method write() of a file object.  `extra`: bytes by name.
void save(const ScriptObject& self, nb::handle to, bool is_path, nb::dict extra) {
  jit::ExtraFilesMap files;
  for (const auto [name, content] : extra) {
    const Contents bytes(content);
    files.emplace(shown(name), bytes.view());
  }
  const jit::Module module(self.object);
  translated([&] {
    if (is_path) {
      const std::string path(Contents(to).view());
      const NoGil no_gil;
      module.save(path, files);
    } else {
      const NoGil no_gil;
      jit::ArchiveImage(module, files).write("archive", writer_to(to));
    }
    return 0;
  });
}

nb::object call(const ScriptObject& self, const std::string& name, nb::args args, nb::kwargs kwargs) {
  std::vector<IValue> values;
  for (const nb::handle a : args) values.push_back(to_value(a));
  jit::Kwargs named;
  for (const auto [key, value] : kwargs) named.emplace(shown(key), to_value(value));
  values.insert(values.begin(), IValue(self.object));
  const jit::Class& type = self.get().type();
  const uint32_t i = type.find_method(name);
  ARGAND_CHECK(ValueError, i != jit::Class::kAbsent, "an object of ", type.name, " has no method '", name, "'");
  const IValue result = [&] {
    const NoGil no_gil;
    return jit::call(*type.methods[i], std::move(values), named);
  }();
  return given(result);
}

// The names of attributes by what they are: "parameter", "buffer", "module" or "attribute".
nb::object names(const ScriptObject& self, const std::string& kind) {
  nb::list out;
  const jit::Object& o = self.get();
  const auto& attributes = o.type().attributes;
  for (uint32_t i = 0; i < attributes.size(); ++i) {
    const char* own = o.place(i).isModule()        ? "module"
                      : attributes[i].is_parameter ? "parameter"
                      : attributes[i].is_buffer    ? "buffer"
                                                   : "attribute";
    if (kind == own) out.append(nb::str(attributes[i].name.c_str()));
  }
  return out;
}

nb::object methods(const ScriptObject& self) {
  nb::list out;
  for (const auto& m : self.get().type().methods) out.append(nb::str(m->short_name().c_str()));
  return out;
}

}  // namespace

void add_torchscript(nb::module_& module) {
  nb::class_<ScriptObject>(module, "ScriptObject", "An object of a class that a TorchScript program defines.")
      .def("_type", [](const ScriptObject& s) { return s.get().type().name; })
      .def("_names", names, nb::arg("kind"))
      .def("_methods", methods)
      .def("_has",
           [](const ScriptObject& s, const std::string& name) {
             return s.get().type().find_attribute(name) != jit::Class::kAbsent || s.get().type().find_constant(name);
           })
      .def("_get", [](const ScriptObject& s, const std::string& name) { return given(s.get().getAttr(name)); })
      .def(
          "_set",
          [](const ScriptObject& s, const std::string& name, nb::handle value) {
            s.object->setAttr(name, to_value(value));
          },
          nb::arg("name"), nb::arg("value").none())
      .def("_call", [](const ScriptObject& s, const std::string& name, nb::args args,
                       nb::kwargs kwargs) { return call(s, name, std::move(args), std::move(kwargs)); })
      .def("_is", [](const ScriptObject& a, const ScriptObject& b) { return a.object.get() == b.object.get(); })
      .def("_copy", [](const ScriptObject& s) { return ScriptObject{jit::Module(s.object).deepcopy()._ivalue()}; })
      .def("_freeze",
           [](const ScriptObject& s, const std::vector<std::string>& preserved) {
             return given(IValue(jit::freeze(jit::Module(s.object), preserved)._ivalue()));
           })
      .def("_save", save, nb::arg("to"), nb::arg("is_path"), nb::arg("extra"))
      .def("_code_files", [](const ScriptObject& s) { return jit::code_files(jit::Module(s.object)); })
      .def("_code_text",
           [](const ScriptObject& s, const std::string& name) { return jit::code_text(jit::Module(s.object), name); });
  module.def("_jit_load", load, nb::arg("source"), nb::arg("is_path"), nb::arg("device").none(), nb::arg("extra"));
}

}  // namespace argand::python
