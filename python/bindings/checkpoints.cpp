// torch.load and torch.save over the reader and writer of io/.
#include "bindings/checkpoints.h"

#include <cerrno>

#include "argand/io/format_error.h"
#include "argand/io/load.h"
#include "bindings/errors.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

std::string text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

// Failures as Python knows them: what is wrong in a file, and what the system says.
template <class F>
auto translated(F&& f) {
  try {
    return f();
  } catch (const io::FormatError& e) {
    PyErr_SetString(nb::module_::import_("pickle").attr("UnpicklingError").ptr(), e.what());
  } catch (const io::FileError& e) {
    if (e.code() == 0) throw;
    errno = e.code();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, e.path().c_str());
  }
  throw nb::python_error();
}

// Runs `f` of Python's from C++ code that does not hold the lock.
template <class F>
auto with_lock(F&& f) {
  const nb::gil_scoped_acquire gil;
  try {
    return f();
  } catch (nb::python_error& e) {
    throw RaisedInPython(std::move(e));
  }
}

// `source`: a path, or bytes.  `place`: a function from where a storage was to where it goes, or None.
nb::object load(nb::handle source, nb::handle place, bool mmap, bool verify) {
  io::LoadOptions options;
  options.mmap = mmap;
  options.verify = verify;
  if (!place.is_none())
    options.map_location = [place](const std::string& location) {
      return with_lock([&] { return Device(text_of(nb::str(place(location.c_str())))); });
    };
  return translated([&] {
    const io::Value value = [&] {
      if (nb::isinstance<nb::str>(source)) {
        const std::string path = text_of(source);
        const NoGil no_gil;
        return io::load(path, options);
      }
      const nb::bytes bytes = nb::cast<nb::bytes>(source);
      const io::MemorySource memory("file object", {bytes.c_str(), bytes.size()});
      const NoGil no_gil;
      return io::load(memory, options);
    }();
    return to_python(value);
  });
}

void save_to_path(nb::handle object, nb::str path) {
  translated([&] {
    const io::Value value = from_python(object);
    const std::string to = text_of(path);
    const NoGil no_gil;
    io::save_torch(to, value);
    return 0;
  });
}

void save_to_file(nb::handle object, nb::handle write) {
  translated([&] {
    const io::Value value = from_python(object);
    const NoGil no_gil;
    io::write_torch(value, "archive", [&](const void* data, size_t count) {
      with_lock([&] {
        constexpr size_t kSmall = size_t{1} << 16;
        if (count <= kSmall) return (void)write(nb::bytes(data, count));
        // No copy; whoever keeps the view finds it released.
        const nb::object view = nb::steal(PyMemoryView_FromMemory(const_cast<char*>(static_cast<const char*>(data)),
                                                                  static_cast<Py_ssize_t>(count), PyBUF_READ));
        if (!view.is_valid()) throw nb::python_error();
        write(view);
        view.attr("release")();
      });
    });
    return 0;
  });
}

}  // namespace

void add_checkpoints(nb::module_& module) {
  module.def("_load", load, nb::arg("source"), nb::arg("place").none(), nb::arg("mmap"), nb::arg("verify"));
  module.def("_save_to_path", save_to_path, nb::arg("object").none(), nb::arg("path"));
  module.def("_save_to_file", save_to_file, nb::arg("object").none(), nb::arg("write"));
}

}  // namespace argand::python
