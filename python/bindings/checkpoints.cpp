// torch.load, torch.save and folders of checkpoints over the reader and writer of io/.
#include "bindings/checkpoints.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <system_error>

#include "argand/io/checkpoint_folder.h"
#include "argand/io/format_error.h"
#include "argand/io/load.h"
#include "argand/io/mapped_file.h"
#include "argand/ops/create/blob.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {

void raise_os_error(const io::FileError& e) {
  const nb::object type = nb::borrow(PyExc_OSError);
  const bool none = dynamic_cast<const io::NoCheckpoint*>(&e) != nullptr;
  const nb::object error = type(e.code(), none ? e.msg() : std::generic_category().message(e.code()), e.path());
  if (e.space()) {
    error.attr("bytes_needed") = e.space()->needed;
    error.attr("bytes_free") = e.space()->free;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void raise_unpickling_error(const char* what) {
  PyErr_SetString(nb::module_::import_("pickle").attr("UnpicklingError").ptr(), what);
}

namespace {

std::string text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
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

// `place`: a function from where a storage was to where it goes, or None.
io::LoadOptions options_of(nb::handle place) {
  io::LoadOptions options;
  if (!place.is_none())
    options.map_location = [place](const std::string& location) {
      return with_lock([&] { return Device(text_of(nb::str(place(location.c_str())))); });
    };
  return options;
}

// `source`: a path, or bytes.
nb::object load(nb::handle source, nb::handle place, bool mmap, std::optional<bool> verify) {
  io::LoadOptions options = options_of(place);
  options.mmap = mmap;
  options.verify = verify;
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

// Without Python's lock: the thread that writes behind takes it for its warnings.
template <class F>
auto unlocked(F&& f) {
  return translated([&] {
    const NoGil no_gil;
    return f();
  });
}

struct Folder {
  Folder(nb::str path, int64_t keep) : folder(std::make_unique<io::CheckpointFolder>(text_of(path), keep)) {}
  Folder(Folder&&) = default;
  ~Folder() {
    const NoGil no_gil;
    folder.reset();
  }
  std::unique_ptr<io::CheckpointFolder> folder;
};

void add_checkpoint_folder(nb::module_& module) {
  using Pending = io::CheckpointFolder::Pending;
  nb::class_<Pending>(module, "_PendingSave")
      .def("wait", [](const Pending& p) { unlocked([&] { return p.wait(), 0; }); })
      .def("done", &Pending::done);
  nb::class_<Folder>(module, "_CheckpointFolder")
      .def(nb::init<nb::str, int64_t>())
      .def(
          "save",
          [](Folder& f, int64_t step, nb::handle object) {
            const io::Value value = from_python(object);
            return unlocked([&] { return f.folder->save(step, value); });
          },
          nb::arg("step"), nb::arg("object").none())
      .def(
          "save_async",
          [](Folder& f, int64_t step, nb::handle object) {
            const io::Value value = from_python(object);
            return unlocked([&] { return f.folder->save_async(step, value); });
          },
          nb::arg("step"), nb::arg("object").none())
      .def("close", [](Folder& f) { unlocked([&] { return f.folder->close(), 0; }); })
      .def("steps", [](Folder& f) { return unlocked([&] { return f.folder->steps(); }); })
      .def("path_of", [](Folder& f, int64_t step) { return f.folder->path_of(step); })
      .def(
          "load_latest",
          [](Folder& f, nb::handle place) {
            const io::LoadOptions options = options_of(place);
            const auto loaded = unlocked([&] { return f.folder->load_latest(options); });
            nb::list skipped;
            for (const io::SkippedFile& file : loaded.skipped) skipped.append(nb::make_tuple(file.path, file.reason));
            return nb::make_tuple(to_python(loaded.value), loaded.step, loaded.path, nb::tuple(skipped));
          },
          nb::arg("place").none());
}

}  // namespace

void add_checkpoints(nb::module_& module) {
  add_checkpoint_folder(module);
  module.def("_load", load, nb::arg("source"), nb::arg("place").none(), nb::arg("mmap"), nb::arg("verify").none());
  module.def("_map_file", [](const std::string& path) {
    const auto map = io::MappedFile::map(io::InputFile(path));
    return from_blob(
        map->data(), {map->size()}, [map](void*) {}, TensorOptions(kByte));
  });
  module.def("_damaged_mappings", &io::MappedFile::all_damaged);
  module.def("_save_to_path", save_to_path, nb::arg("object").none(), nb::arg("path"));
  module.def("_save_to_file", save_to_file, nb::arg("object").none(), nb::arg("write"));
}

}  // namespace argand::python
