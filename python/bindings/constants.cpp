#include "bindings/constants.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"
#include "bindings/errors.h"
#include "bindings/numbers.h"
#include "bindings/tensor_object.h"

namespace argand::python {

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyTypeObject* layout_type = nullptr;
PyTypeObject* memory_format_type = nullptr;
PyTypeObject* generator_type = nullptr;
PyTypeObject* size_type = nullptr;

namespace {

// PyTorch's dtypes that no op here supports: programs compare with them, and read their sizes.
struct ForeignDtype {
  const char* name;
  int itemsize;
  bool is_floating_point, is_complex, is_signed;
};
constexpr ForeignDtype kForeign[] = {
    {"uint16", 2, false, false, false},         {"uint32", 4, false, false, false},
    {"uint64", 8, false, false, false},         {"float8_e4m3fn", 1, true, false, true},
    {"float8_e4m3fnuz", 1, true, false, true},  {"float8_e5m2", 1, true, false, true},
    {"float8_e5m2fnuz", 1, true, false, true},  {"float8_e8m0fnu", 1, true, false, false},
    {"float4_e2m1fn_x2", 1, true, false, true}, {"complex32", 4, false, true, true},
    {"quint8", 1, false, false, false},         {"qint8", 1, false, false, true},
    {"qint32", 4, false, false, true},          {"quint4x2", 1, false, false, false},
    {"quint2x4", 1, false, false, false}};

struct DtypeObject {
  ScalarType type;
  const ForeignDtype* foreign = nullptr;
  const char* name() const { return foreign ? foreign->name : dtype_name(type); }
};
PyObject* dtype_objects[kNumScalarTypes];

template <class T>
PyTypeObject* type_of() {
  return reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
}

// What pickle writes instead of a value that the package has by name.
nb::object by_name(const char* name) {
  return nb::make_tuple(nb::module_::import_("argand._functions").attr("_by_name"), nb::make_tuple(name));
}

void add_dtypes(nb::module_& module) {
  nb::class_<DtypeObject>(module, "dtype", "The type of a tensor's elements.")
      .def_prop_ro("is_floating_point",
                   [](const DtypeObject& d) {
                     return d.foreign ? d.foreign->is_floating_point : argand::is_floating_point(d.type);
                   })
      .def_prop_ro("is_complex",
                   [](const DtypeObject& d) { return d.foreign ? d.foreign->is_complex : argand::is_complex(d.type); })
      .def_prop_ro("is_signed",
                   [](const DtypeObject& d) { return d.foreign ? d.foreign->is_signed : argand::is_signed(d.type); })
      .def_prop_ro("itemsize",
                   [](const DtypeObject& d) { return d.foreign ? d.foreign->itemsize : element_size(d.type); })
      .def("to_real", [](nb::object d) { return nb::borrow(dtype_object(to_real_type(*as_dtype(d.ptr())))); })
      .def("to_complex", [](nb::object d) { return nb::borrow(dtype_object(to_complex_type(*as_dtype(d.ptr())))); })
      .def("__repr__", [](const DtypeObject& d) { return str("torch.", d.name()); })
      .def("__reduce__", [](const DtypeObject& d) { return by_name(d.name()); });
  dtype_type = type_of<DtypeObject>();
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto type = static_cast<ScalarType>(i);
    nb::object object = nb::cast(DtypeObject{type});
    module.attr(dtype_name(type)) = object;
    dtype_objects[i] = object.release().ptr();
  }
  for (const ForeignDtype& f : kForeign) module.attr(f.name) = nb::cast(DtypeObject{ScalarType::Undefined, &f});
  module.attr("chalf") = module.attr("complex32");
  static constexpr std::pair<const char*, ScalarType> aliases[] = {
      {"float", kFloat}, {"double", kDouble}, {"half", kHalf},           {"long", kLong},
      {"int", kInt},     {"short", kShort},   {"cfloat", kComplexFloat}, {"cdouble", kComplexDouble}};
  for (const auto& [name, type] : aliases) module.attr(name) = nb::borrow(dtype_object(type));
  module.def("promote_types", [](nb::object a, nb::object b) {
    const auto x = as_dtype(a.ptr()), y = as_dtype(b.ptr());
    if (!x || !y) throw nb::type_error("promote_types(): expected two dtypes");
    return nb::borrow(dtype_object(promote_types(*x, *y)));
  });
  module.def("can_cast", [](nb::object from, nb::object to) {
    const auto x = as_dtype(from.ptr()), y = as_dtype(to.ptr());
    if (!x || !y) throw nb::type_error("can_cast(): expected two dtypes");
    return can_cast(*x, *y);
  });
  module.def("get_default_dtype", [] { return nb::borrow(dtype_object(get_default_dtype())); });
  module.def("set_default_dtype", [](nb::object type) {
    const auto t = as_dtype(type.ptr());
    if (!t) throw nb::type_error("set_default_dtype(): expected a dtype");
    if (is_integral(*t) || *t == kBool || is_complex(*t))
      throw nb::type_error("set_default_dtype(): only floating-point types are supported as the default type");
    set_default_dtype(*t);
  });
}

Device read_device(nb::object type, nb::object index) {
  const auto device = as_device(type.ptr());
  if (!device) throw nb::type_error("device(): expected a device, its name or the index of a CUDA device");
  if (index.is_none()) return *device;
  ARGAND_CHECK(ValueError, !device->has_index(), "device(): the index is given twice, in '", *device, "' and as ",
               to_integer(index.ptr()));
  const int64_t i = to_integer(index.ptr());
  ARGAND_CHECK(ValueError, i >= 0 && i < 128, "device(): expected an index from 0 to 127, got ", i);
  return Device(device->type(), static_cast<DeviceIndex>(i));
}

void add_devices(nb::module_& module) {
  nb::class_<Device>(module, "device", "Where a tensor lives: cpu, cuda, cuda:1, meta.")
      .def(
          "__init__",
          [](Device* self, nb::object type, nb::object index) { new (self) Device(read_device(type, index)); },
          nb::arg("type"), nb::arg("index") = nb::none())
      .def_prop_ro("type", [](const Device& d) { return device_type_name(d.type()); })
      .def_prop_ro("index",
                   [](const Device& d) { return d.has_index() ? std::optional<int>(d.index()) : std::nullopt; })
      .def("__repr__",
           [](const Device& d) {
             return str("device(type='", device_type_name(d.type()), "'",
                        d.has_index() ? str(", index=", int{d.index()}) : std::string(), ")");
           })
      .def("__str__", [](const Device& d) { return d.str(); })
      .def(
          "__eq__", [](const Device& a, nb::object b) { return nb::isinstance<Device>(b) && a == nb::cast<Device>(b); },
          nb::arg("other").none())
      .def("__hash__", [](const Device& d) { return static_cast<int>(d.type()) * 256 + d.index(); })
      .def("__reduce__",
           [](nb::object self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self).c_str())); });
  device_type = type_of<Device>();
  module.def("_get_default_device", [] { return default_device(); });
  module.def("_set_default_device", [](const Device& d) { set_default_device(d); });
}

enum class LayoutName : int8_t { kStrided, kSparseCoo, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc, kJagged };

void add_formats(nb::module_& module) {
  nb::enum_<MemoryFormat>(module, "memory_format")
      .value("contiguous_format", MemoryFormat::Contiguous)
      .value("preserve_format", MemoryFormat::Preserve)
      .value("channels_last", MemoryFormat::ChannelsLast)
      .value("channels_last_3d", MemoryFormat::ChannelsLast3d)
      .export_values();
  memory_format_type = type_of<MemoryFormat>();
  // No tensor has the others: programs compare with them.
  nb::enum_<LayoutName>(module, "layout")
      .value("strided", LayoutName::kStrided)
      .value("sparse_coo", LayoutName::kSparseCoo)
      .value("sparse_csr", LayoutName::kSparseCsr)
      .value("sparse_csc", LayoutName::kSparseCsc)
      .value("sparse_bsr", LayoutName::kSparseBsr)
      .value("sparse_bsc", LayoutName::kSparseBsc)
      .value("jagged", LayoutName::kJagged)
      .export_values();
  layout_type = type_of<LayoutName>();
}

Generator default_generator_of(const Device& device) {
  if (device.is_cpu()) return default_cpu_generator();
  return backend_of(device.type()).default_generator(with_index(device).index());
}

// A negative seed counts from the top, as in PyTorch.
uint64_t to_seed(PyObject* object) {
  if (!PyLong_Check(object) || fits_int64(object)) return static_cast<uint64_t>(to_integer(object));
  const uint64_t seed = PyLong_AsUnsignedLongLong(object);
  if (!PyErr_Occurred()) return seed;
  PyErr_Clear();
  throw ValueError("Overflow when unpacking long: expected a seed from -2^63 to 2^64 - 1");
}

Tensor state_of(const Generator& g) {
  const std::vector<uint8_t> bytes = g.state();
  Tensor out = argand::empty({static_cast<int64_t>(bytes.size())}, kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(out.impl().data()));
  return out;
}
void set_state(Generator& g, const Tensor& state) {
  ARGAND_CHECK(DtypeError, state.defined() && state.dtype() == kByte && state.is_cpu(),
               "Generator.set_state: expected a uint8 tensor on the CPU");
  const Tensor bytes = state.contiguous();
  const auto* data = static_cast<const uint8_t*>(bytes.impl().data());
  g.set_state({data, data + bytes.numel()});
}

void add_generators(nb::module_& module) {
  nb::class_<Generator>(module, "Generator", "A stream of random numbers of one device.")
      .def(
          "__init__",
          [](Generator* self, nb::object device) {
            const auto d = as_device(device.ptr());
            if (!d) throw nb::type_error("Generator(): expected a device");
            new (self) Generator(default_generator_of(*d).clone());
            self->set_current_seed(kDefaultSeed);
          },
          nb::arg("device") = "cpu")
      .def_prop_ro("device", &Generator::device)
      .def("manual_seed",
           [](nb::object self, nb::object seed) {
             nb::cast<Generator&>(self).set_current_seed(to_seed(seed.ptr()));
             return self;
           })
      .def("initial_seed", &Generator::current_seed)
      .def("seed", &Generator::seed)
      .def("get_state", state_of)
      .def("set_state",
           [](nb::object self, const Tensor& state) {
             set_state(nb::cast<Generator&>(self), state);
             return self;
           })
      .def("clone_state", &Generator::clone);
  generator_type = type_of<Generator>();
  module.def("_default_generator", [](const Device& d) { return default_generator_of(d); });
  module.def("_manual_seed", [](nb::object seed) { return manual_seed(to_seed(seed.ptr())); });
}

PyObject* count(PyObject* self, PyObject*) {
  int64_t n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_Size(self); ++i) n *= PyLong_AsLongLong(PyTuple_GetItem(self, i));
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(n);
}
PyObject* describe(PyObject* self) {
  const nb::object list = nb::steal(PySequence_List(self));
  return list.is_valid() ? PyUnicode_FromFormat("torch.Size(%R)", list.ptr()) : nullptr;
}
// A slice, a sum or a multiple of sizes is a Size, too.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple)) return tuple;
  const nb::object items = nb::steal(tuple);
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(size_type), items.ptr(), nullptr);
}
PyObject* size_item(PyObject* self, PyObject* key) {
  static const auto base = reinterpret_cast<binaryfunc>(PyType_GetSlot(&PyTuple_Type, Py_mp_subscript));
  return PySlice_Check(key) ? as_size(base(self, key)) : base(self, key);
}
PyObject* size_sum(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(b)) return Py_NewRef(Py_NotImplemented);
  static const auto base = reinterpret_cast<binaryfunc>(PyType_GetSlot(&PyTuple_Type, Py_sq_concat));
  return as_size(base(a, b));
}
PyObject* size_times(PyObject* self, Py_ssize_t n) {
  static const auto base = reinterpret_cast<ssizeargfunc>(PyType_GetSlot(&PyTuple_Type, Py_sq_repeat));
  return as_size(base(self, n));
}
PyObject* reduce_size(PyObject* self, PyObject*) {
  return guarded([&] {
    const nb::object items = nb::steal(PySequence_Tuple(self));
    nb::object plain = nb::steal(PyTuple_GetSlice(self, 0, PyTuple_Size(self)));
    return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(size_type)), nb::make_tuple(nb::list(plain)))
        .release()
        .ptr();
  });
}

// Sizes are integers, or tensors of one integer.
PyObject* new_size(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const auto base = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  return guarded([&]() -> PyObject* {
    nb::object self = owned(base(type, arguments, keywords));
    for (Py_ssize_t i = 0; i < PyTuple_Size(self.ptr()); ++i) {
      PyObject* const item = PyTuple_GetItem(self.ptr(), i);
      if (PyLong_Check(item)) continue;
      if (PyObject* const number = PyNumber_Index(item)) {
        if (PyTuple_SetItem(self.ptr(), i, number) < 0) throw nb::python_error();
        continue;
      }
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   type_name(item).c_str());
      throw nb::python_error();
    }
    return self.release().ptr();
  });
}

void add_sizes(nb::module_& module) {
  static PyMethodDef methods[] = {{"numel", count, METH_NOARGS, "The number of elements of a tensor of these sizes."},
                                  {"__reduce__", reduce_size, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_size)},
                                {Py_tp_repr, reinterpret_cast<void*>(describe)},
                                {Py_tp_methods, methods},
                                {Py_mp_subscript, reinterpret_cast<void*>(size_item)},
                                {Py_sq_concat, reinterpret_cast<void*>(size_sum)},
                                {Py_sq_repeat, reinterpret_cast<void*>(size_times)},
                                {0, nullptr}};
  static PyType_Spec spec = {"argand.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  const nb::object bases = nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(&PyTuple_Type)));
  size_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.ptr()));
  if (!size_type) throw nb::python_error();
  module.attr("Size") = nb::borrow(reinterpret_cast<PyObject*>(size_type));
}

}  // namespace

PyObject* dtype_object(ScalarType type) { return dtype_objects[static_cast<int>(type)]; }
PyObject* wrap(ScalarType type) { return Py_NewRef(dtype_object(type)); }
PyObject* wrap(const Device& device) { return nb::cast(device).release().ptr(); }

PyObject* wrap_size(IntArrayRef sizes) {
  static const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(size_type, Py_tp_alloc));
  nb::object self = owned(allocate(size_type, static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; i < sizes.size(); ++i)
    PyTuple_SetItem(self.ptr(), static_cast<Py_ssize_t>(i), owned(PyLong_FromLongLong(sizes[i])).release().ptr());
  return self.release().ptr();
}

std::optional<ScalarType> as_dtype(PyObject* object) {
  if (PyObject_TypeCheck(object, dtype_type)) {
    const auto& d = *nb::inst_ptr<DtypeObject>(object);
    ARGAND_CHECK(NotImplementedError, !d.foreign, "no op of Argand takes or makes tensors of dtype ", d.name());
    return d.type;
  }
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return kComplexDouble;
  return std::nullopt;
}

std::optional<Device> as_device(PyObject* object) {
  if (PyObject_TypeCheck(object, device_type)) return *nb::inst_ptr<Device>(object);
  if (PyUnicode_Check(object)) return Device(to_text(object));
  if (!is_integer(object, true)) return std::nullopt;
  const int64_t index = to_integer(object);
  ARGAND_CHECK(ValueError, index >= 0 && index < 128, "device: expected an index from 0 to 127, got ", index);
  return Device(kCUDA, static_cast<DeviceIndex>(index));
}

PyObject* strided_layout() {
  static PyObject* const layout = nb::cast(LayoutName::kStrided).release().ptr();
  return layout;
}

void check_layout(PyObject* layout) {
  ARGAND_CHECK(NotImplementedError, layout == strided_layout(), "Argand has no tensors of ", shown(layout));
}

void add_constants(nb::module_& module) {
  add_dtypes(module);
  add_devices(module);
  add_formats(module);
  add_generators(module);
  add_sizes(module);
}

}  // namespace argand::python
