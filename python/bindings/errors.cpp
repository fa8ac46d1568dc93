#include "bindings/errors.h"

#include <cxxabi.h>

#include <new>

#include "argand/base/ignored.h"
#include "argand/base/linalg_error.h"
#include "argand/base/log.h"
#include "argand/jit/call.h"
#include "argand/parallel/store/store.h"

namespace argand::python {
namespace {

struct ErrorType {
  PyObject* type = nullptr;
  bool (*is)(const Error&) = nullptr;
};
std::vector<ErrorType> kinds;  // filled once, when the module is loaded

// Classes come after those they are derived from.
template <class E>
PyObject* add(nb::module_& module, const char* name, std::initializer_list<PyObject*> bases,
              const char* package = "argand") {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(bases.size())));
  Py_ssize_t i = 0;
  for (PyObject* base : bases) PyTuple_SetItem(tuple.ptr(), i++, Py_NewRef(base));
  PyObject* const type = PyErr_NewException(str(package, ".", name).c_str(), tuple.ptr(), nullptr);
  if (!type) throw nb::python_error();
  module.attr(name) = nb::borrow(type);
  kinds.push_back({type, [](const Error& e) { return dynamic_cast<const E*>(&e) != nullptr; }});
  return type;
}

// Those of torch.distributed.
void add_distributed(nb::module_& module) {
  const char* const package = "argand.distributed";
  PyObject* const base = add<DistributedError>(module, "DistError", {PyExc_RuntimeError}, package);
  PyObject* const backend = add<BackendError>(module, "DistBackendError", {base}, package);
  add<PeerLost>(module, "PeerLost", {backend}, package);
  add<NetworkError>(module, "DistNetworkError", {base}, package);
  PyObject* const store = add<StoreError>(module, "DistStoreError", {base}, package);
  add<parallel::QueueEmptyError>(module, "QueueEmptyError", {store}, package);
}

}  // namespace

std::string message_of(const nb::python_error& error) {
  const Gil gil;
  const std::string kind = type_name(error.value().ptr());
  try {
    const std::string text = shown(error.value());
    return text.empty() ? kind : kind + ": " + text;
  } catch (const nb::python_error&) {
    return kind;
  }
}

RaisedInPython::RaisedInPython(nb::python_error error)
    : Error(message_of(error)), error_(new nb::python_error(std::move(error)), [](nb::python_error* e) {
        const Gil gil;
        delete e;
      }) {}

void RaisedInPython::restore() const { nb::python_error(*error_).restore(); }

nb::object owned(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

// A message may quote bytes that are not valid text: contents of a file, or its name.
static nb::object to_text(std::string_view message) {
  return nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
}

void set_error(PyObject* type, std::string_view message) {
  const nb::object text = to_text(message);
  if (text.is_valid()) PyErr_SetObject(type, text.ptr());
}

// PeerLost has its rank as an attribute.
static void set_error_of(PyObject* type, const Error& e) {
  const auto* const lost = dynamic_cast<const PeerLost*>(&e);
  if (!lost) return set_error(type, e.what());
  const nb::object text = to_text(e.what());
  const nb::object error =
      text.is_valid() ? nb::steal(PyObject_CallFunctionObjArgs(type, text.ptr(), nullptr)) : nb::object();
  const nb::object rank = nb::steal(PyLong_FromLong(lost->rank()));
  if (!error.is_valid() || !rank.is_valid() || PyObject_SetAttrString(error.ptr(), "rank", rank.ptr()) != 0) return;
  PyErr_SetObject(type, error.ptr());
}

void set_error() {
  try {
    throw;
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const RaisedInPython& e) {
    e.restore();
  } catch (const Error& e) {
    for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind)
      if (kind->is(e)) return set_error_of(kind->type, e);
    set_error(PyExc_RuntimeError, e.what());
  } catch (const std::bad_alloc&) {
    set_error(PyExc_MemoryError, "the host has too little memory left for what this call needs beside its tensors");
  } catch (const std::exception& e) {
    set_error(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

std::string shown(nb::handle object) {
  const nb::object text = owned(PyObject_Str(object.ptr()));
  const nb::object bytes = owned(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

std::string type_name(PyObject* object) {
  const nb::handle type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const std::string name = shown(type.attr("__name__"));
  const nb::object module = nb::getattr(type, "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module)) return name;
  const std::string prefix = shown(module);
  const std::string package = prefix.substr(0, prefix.find('.'));  // torch is this one's name under `python -m argand`
  return package == "builtins" || package == "argand" || package == "torch" ? name : prefix + "." + name;
}

void add_errors(nb::module_& module) {
  PyObject* const runtime = PyExc_RuntimeError;
  add<ShapeError>(module, "ShapeError", {runtime});
  // PyTorch raises the one or the other for a dtype that an op does not take.
  add<DtypeError>(module, "DtypeError", {PyExc_NotImplementedError, PyExc_TypeError});
  add<DeviceError>(module, "DeviceError", {runtime});
  add<IndexError>(module, "IndexError", {runtime, PyExc_IndexError});
  add<ValueError>(module, "ValueError", {runtime, PyExc_ValueError});
  add<GradError>(module, "GradError", {runtime});
  add<OutOfMemoryError>(module, "OutOfMemoryError", {runtime});
  add<IoError>(module, "IoError", {runtime, PyExc_OSError});
  add_distributed(module);
  add<LinAlgError>(module, "LinAlgError", {runtime});
  add<NotImplementedError>(module, "NotImplementedError", {PyExc_NotImplementedError});
  add<InternalError>(module, "InternalError", {runtime});
  add<jit::Exception>(module, "JITException", {runtime}, "argand.jit");
  // What nanobind's functions throw is translated as everywhere else.
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error&) {
      set_error();
    }
  });
  module.def("_warns_always", &warns_always).def("_set_warns_always", &set_warns_always, nb::arg("always"));
  set_warning_handler([](std::string_view message) {
    if (!Py_IsInitialized()) return;  // the process ends
    const Gil gil;
    const nb::object text = to_text(message);
    if (!text.is_valid() || PyErr_WarnFormat(PyExc_UserWarning, 1, "%U", text.ptr()) != 0)
      throw RaisedInPython(nb::python_error());
  });
  set_ignored_handler([](std::string_view op, std::string_view argument, std::string_view reason) {
    if (!Py_IsInitialized()) return;
    const Gil gil;
    const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
    try {
      const nb::object warn = nb::module_::import_("argand._ignored").attr("warn_ignored");
      warn(text(op), text(argument), true, text(reason));
    } catch (const nb::python_error& error) {
      throw RaisedInPython(error);
    }
  });
}

}  // namespace argand::python
