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
#include "argand/io/torch_archive.h"
#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {

std::function<void(const void*, size_t)> writer_to(nb::handle write) {
  return [write](const void* data, size_t count) {
    in_python([&] {
      constexpr size_t kSmall = size_t{1} << 16;
      if (count <= kSmall) return (void)write(nb::bytes(data, count));
      // No copy; whoever keeps the view finds it released.
      const nb::object view = nb::steal(PyMemoryView_FromMemory(const_cast<char*>(static_cast<const char*>(data)),
                                                                static_cast<Py_ssize_t>(count), PyBUF_READ));
      if (!view.is_valid()) throw nb::python_error();
      write(view);
      view.attr("release")();
    });
  };
}

void raise_os_error(const io::FileError& e) {
  const nb::object type = nb::borrow(PyExc_OSError);
  const bool none = dynamic_cast<const io::NoCheckpoint*>(&e) != nullptr;
  const auto path = static_cast<Py_ssize_t>(e.path().size());
  const nb::object error = type(e.code(), none ? e.msg() : std::generic_category().message(e.code()),
                                nb::steal(PyUnicode_DecodeFSDefaultAndSize(e.path().data(), path)));
  if (e.space()) {
    error.attr("bytes_needed") = e.space()->needed;
    error.attr("bytes_free") = e.space()->free;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void raise_unpickling_error(const char* what) {
  set_error(nb::module_::import_("pickle").attr("UnpicklingError").ptr(), what);
}

namespace {

std::string text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

// A path may contain any bytes, which need not be text.
std::string path_of(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

// `place`: a function from where a storage was to where it goes, or None.
bool big_endian = false;  // torch.serialization.set_default_load_endianness; the interpreter's lock guards it

io::LoadOptions options_of(nb::handle place) {
  io::LoadOptions options;
  options.big_endian = big_endian;
  if (!place.is_none())
    options.map_location = [place](const std::string& location) {
      return in_python([&] { return Device(text_of(nb::str(place(location.c_str())))); });
    };
  return options;
}

// Values that Python rejects (a text with an invalid code point, keys that collide) are errors of the file.
nb::object objects_of(const io::Value& value) {
  try {
    return to_python(value);
  } catch (const ValueError& e) {
    raise_unpickling_error(e.what());
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError) && !e.matches(PyExc_AttributeError)) throw;
    raise_unpickling_error(str("load: ", message_of(e)).c_str());
  }
  throw nb::python_error();
}

// The bytes of an object with memory, for as long as this lives.
class Bytes {
 public:
  explicit Bytes(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::string_view view() const { return {static_cast<const char*>(buffer_.buf), static_cast<size_t>(buffer_.len)}; }

 private:
  Py_buffer buffer_{};
};

// `source`: a path, or an object with memory, which nobody may write meanwhile.
nb::object load(nb::handle source, nb::handle place, bool mmap, std::optional<bool> verify) {
  io::LoadOptions options = options_of(place);
  options.mmap = mmap;
  options.verify = verify;
  return translated([&] {
    const io::Value value = [&] {
      if (nb::isinstance<nb::str>(source)) {
        const std::string path = path_of(source);
        const NoGil no_gil;
        return io::load(path, options);
      }
      const Bytes bytes(source);
      const io::MemorySource memory("file object", bytes.view());
      const NoGil no_gil;
      return io::load(memory, options);
    }();
    return objects_of(value);
  });
}

// An archive of torch.save whose pickle Python reads.
class Archive {
 public:
  Archive(nb::handle source, nb::handle place, bool mmap, std::optional<bool> verify) {
    io::LoadOptions options = options_of(place);
    options.mmap = mmap;
    options.verify = verify;
    translated([&] {
      if (nb::isinstance<nb::str>(source)) {
        source_ = std::make_unique<io::InputFile>(path_of(source));
      } else {
        bytes_ = std::make_unique<Bytes>(source);
        source_ = std::make_unique<io::MemorySource>("file object", bytes_->view());
      }
      if (io::ZipDirectory::begins(*source_)) archive_ = std::make_unique<io::TorchArchive>(*source_, options);
      return 0;
    });
  }
  bool is_archive() const { return archive_ && !archive_->is_script(); }
  nb::bytes pickle() const {
    const std::string text = translated([&] { return archive_->pickle(); });
    return nb::bytes(text.data(), text.size());
  }
  // The elements of a storage; of its bytes where `dtype` is None.
  nb::object storage(const std::string& key, nb::handle dtype, int64_t numel, const std::string& location) const {
    io::StorageRequest request{.key = key, .location = location, .numel = numel};
    request.untyped = dtype.is_none();
    if (!request.untyped) request.dtype = *as_dtype(dtype.ptr());
    const Tensor t = translated([&] {
      ARGAND_CHECK(ValueError, numel >= 0 && numel <= source_->size(), "load: a storage of ", numel, " elements");
      const NoGil no_gil;
      return archive_->storage(request);
    });
    return nb::steal(wrap(t));
  }

 private:
  std::unique_ptr<Bytes> bytes_;  // what the source reads, if it is no file
  std::unique_ptr<io::ByteSource> source_;
  std::unique_ptr<io::TorchArchive> archive_;
};

void save_to_path(nb::handle object, nb::str path) {
  translated([&] {
    const io::Value value = from_python(object);
    const std::string to = path_of(path);
    const NoGil no_gil;
    io::save_torch(to, value);
    return 0;
  });
}

void save_to_file(nb::handle object, nb::handle write) {
  translated([&] {
    const io::Value value = from_python(object);
    const NoGil no_gil;
    io::write_torch(value, "archive", writer_to(write));
    return 0;
  });
}

// Runs `f` without the interpreter's lock, which the thread that writes in the background takes for its warnings.
template <class F>
auto unlocked(F&& f) {
  return translated([&] {
    const NoGil no_gil;
    return f();
  });
}

struct Folder {
  Folder(nb::str path, int64_t keep) : folder(std::make_unique<io::CheckpointFolder>(path_of(path), keep)) {}
  Folder(Folder&&) = default;
  ~Folder() {
    const NoGil no_gil;
    folder.reset();
  }
  std::unique_ptr<io::CheckpointFolder> folder;
};

// A file of torch.save whose tensors are copied when it is made, so that a Python thread can write it later.
void add_save_image(nb::module_& module) {
  nb::class_<io::TorchImage>(module, "_SaveImage")
      .def(
          "__init__",
          [](io::TorchImage* place, nb::handle object, bool copied) {
            const io::Value value = translated([&] { return from_python(object); });
            unlocked([&] { return new (place) io::TorchImage(value, copied), 0; });
          },
          nb::arg("object").none(), nb::arg("copied"))
      .def("write", [](const io::TorchImage& image, nb::str path) {
        const std::string to = path_of(path);
        unlocked([&] { return image.write_to(to), 0; });
      });
}

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
            return nb::make_tuple(objects_of(loaded.value), loaded.step, loaded.path, nb::tuple(skipped));
          },
          nb::arg("place").none());
}

}  // namespace

void add_checkpoints(nb::module_& module) {
  add_checkpoint_folder(module);
  add_save_image(module);
  module.def("_load", load, nb::arg("source"), nb::arg("place").none(), nb::arg("mmap"), nb::arg("verify").none());
  nb::class_<Archive>(module, "_TorchArchive")
      .def(nb::init<nb::handle, nb::handle, bool, std::optional<bool>>(), nb::arg("source"), nb::arg("place").none(),
           nb::arg("mmap"), nb::arg("verify").none())
      .def("is_archive", &Archive::is_archive)
      .def("pickle", &Archive::pickle)
      .def("storage", &Archive::storage, nb::arg("key"), nb::arg("dtype").none(), nb::arg("numel"),
           nb::arg("location"));
  module.def("_set_loads_big_endian", [](bool big) { big_endian = big; });
  module.def("_save_to_path", save_to_path, nb::arg("object").none(), nb::arg("path"));
  module.def("_save_to_file", save_to_file, nb::arg("object").none(), nb::arg("write"));
}

}  // namespace argand::python
