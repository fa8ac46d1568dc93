#include "bindings/literal.h"

#include <nanobind/stl/string.h>

#include "argand/base/log.h"
#include "argand/core/dispatch.h"
#include "argand/core/grad_mode.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"
#include "argand/ops/number_fits.h"
#include "bindings/call.h"
#include "bindings/constants.h"
#include "bindings/dispatch.h"
#include "bindings/items.h"

namespace argand::python {
namespace {

constexpr size_t kMaxDepth = 64;

bool is_nested(PyObject* object) {
  return PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !is_tensor(object);
}

// Whether the object is an ndarray, not a NumPy scalar.
bool is_ndarray(PyObject* object) {
  return is_array(object) && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array_finalize__");
}

// The shape of nested sequences by their first elements.
Dims shape_of(PyObject* value) {
  Dims sizes;
  nb::object at = nb::borrow(value);
  if ((PyList_Check(value) || PyTuple_Check(value)) && PySequence_Size(value) > 0 &&
      is_ndarray(nb::steal(PySequence_GetItem(value, 0)).ptr()))
    ARGAND_WARN_ONCE(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor.");
  while (is_nested(at.ptr()) && (!is_array(at.ptr()) || PySequence_Size(at.ptr()) >= 0)) {
    const Py_ssize_t n = PySequence_Size(at.ptr());
    if (n < 0) throw nb::python_error();
    sizes.push_back(n);
    ARGAND_CHECK(ValueError, sizes.size() <= kMaxDepth, "tensor: too many dimensions in nested sequences");
    if (n == 0) break;
    const std::string type = type_name(at.ptr());
    at = nb::steal(PySequence_GetItem(at.ptr(), 0));
    if (!at.is_valid()) {
      PyErr_Clear();
      throw ValueError(str("could not determine the shape of object type '", type, "'"));
    }
  }
  if (is_tensor(at.ptr()) && as_tensor(at.ptr()).numel() != 1)  // one of one element is a number
    for (const int64_t n : as_tensor(at.ptr()).sizes()) sizes.push_back(n);
  return sizes;
}

// The dtype of a typestr of the array interface ("<f4"); nothing for a type that tensors cannot have.
std::optional<ScalarType> known_typestr(const std::string& text) {
  static constexpr std::pair<std::string_view, ScalarType> names[] = {
      {"f4", kFloat}, {"f8", kDouble}, {"f2", kHalf}, {"i1", kChar},         {"i2", kShort},         {"i4", kInt},
      {"i8", kLong},  {"u1", kByte},   {"b1", kBool}, {"c8", kComplexFloat}, {"c16", kComplexDouble}};
  for (const auto& [name, type] : names)
    if (text.size() > 1 && text.substr(1) == name && text[0] != '>') return type;
  return std::nullopt;
}

ScalarType dtype_of_typestr(const std::string& text) {
  if (const auto type = known_typestr(text)) return *type;
  ARGAND_CHECK(
      ValueError, text.empty() || text[0] != '>' || !known_typestr("<" + text.substr(1)),
      "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
      "currently not supported.");
  PyErr_Format(PyExc_TypeError,
               "can't convert an array of type '%s'. The only supported types are: float64, float32, float16, "
               "complex64, complex128, int64, int32, int16, int8, uint8, and bool, in native byte order.",
               text.c_str());
  throw nb::python_error();
}

// Whether a value is a 0-dim array, as NumPy's scalars are, too; and its dtype, if tensors can have it.
struct ArrayNumber {
  bool is_one;
  std::optional<ScalarType> dtype = std::nullopt;
};
ArrayNumber array_number(PyObject* value) {
  const nb::dict interface = nb::handle(value).attr("__array_interface__");
  const nb::object shape = interface["shape"];
  if (nb::len(shape) != 0) return {false};
  return {true, known_typestr(nb::cast<std::string>(interface["typestr"]))};
}

// Writes elements in order; the widest kind of number seen so far decides the dtype.
class Reader {
 public:
  // `infers`: the dtype is that of the elements.
  Reader(Dims sizes, bool infers) : sizes_(std::move(sizes)), infers_(infers) {}

  void read(PyObject* value, size_t dim = 0) {
    if (is_tensor(value)) return read_tensor(as_tensor(value), dim);
    if (dim < sizes_.size()) {
      if (!is_nested(value)) ragged(dim, value);
      const Items items = Items::of_iterable(value);
      const Py_ssize_t n = items.size();
      if (n != sizes_[dim])
        throw ValueError(str("expected sequence of length ", sizes_[dim], " at dim ", dim, " (got ", n, ")"));
      for (Py_ssize_t i = 0; i < n; ++i) {
        if (items[i] == value) {
          PyErr_SetString(PyExc_TypeError, "tensor: self-referential lists are incompatible");
          throw nb::python_error();
        }
        read(items[i], dim + 1);
      }
      return;
    }
    if (PyLong_Check(value) && !PyBool_Check(value)) {
      int overflow = 0;
      (void)PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow) {
        beyond_64_bits_ = true;
        const double rounded = PyLong_AsDouble(value);
        if (rounded == -1 && PyErr_Occurred()) throw nb::python_error();
        return add(rounded, kLong);
      }
    }
    if (PyFloat_CheckExact(value)) return add(PyFloat_AsDouble(value), get_default_dtype());
    if (Py_TYPE(value) == numpy_double_) return add(PyFloat_AsDouble(value), kDouble);
    if (is_array(value))
      if (const ArrayNumber array = array_number(value); array.is_one) {
        if (PyFloat_Check(value) && array.dtype == kDouble) numpy_double_ = Py_TYPE(value);
        const nb::object number = nb::handle(value).attr("item")();
        if (!array.dtype && is_array(number.ptr()))  // a long double, which Python has no number for
          (void)dtype_of_typestr(nb::cast<std::string>(nb::handle(value).attr("__array_interface__")["typestr"]));
        if (!array.dtype) return read(number.ptr(), dim);
        return add(to_scalar(number.ptr()), *array.dtype);
      }
    if (is_nested(value) && !is_number(value, false)) ragged(dim, value);
    if (!is_number(value, false) && !is_bool(value)) refuse(value, dim);
    const Scalar number = to_scalar(value);
    add(number, number.isFloatingPoint() ? get_default_dtype()
                : number.isComplex()     ? to_complex_type(get_default_dtype())
                                         : number.type());
  }

  Tensor finish(const TensorOptions& options) const {
    const ScalarType type = options.has_dtype() ? options.dtype() : dtype_.value_or(get_default_dtype());
    if (beyond_64_bits_ && is_integral(type) && type != kBool)
      throw ValueError("Overflow when unpacking long: expected integers of int64, from -2^63 to 2^63 - 1");
    const TensorOptions on_cpu = TensorOptions(type).device(kCPU).pinned_memory(options.pinned_memory());
    Tensor out = argand::empty(sizes_, on_cpu);
    dispatch<kAllTypes>(type, "tensor", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* const data = static_cast<T*>(out.impl().data());
      for (size_t i = 0; i < values_.size(); ++i) {
        check_kind(values_[i], type);
        if constexpr (std::is_same_v<T, bool>)
          data[i] = values_[i].to<std::complex<double>>() != 0.0;
        else
          data[i] = values_[i].to<T>();
      }
    });
    return out;
  }

 private:
  // Floating-point numbers may become infinite; integers stay what they are.
  static void check_kind(const Scalar& value, ScalarType type) {
    if (is_complex(type) || type == kBool) return;
    if (value.isComplex()) {
      PyErr_Format(PyExc_TypeError, "tensor: must be real number, not complex, for a tensor of dtype torch.%s",
                   dtype_name(type));
      throw nb::python_error();
    }
    if (is_integral(type) && !ops::number_fits(value, type))
      throw ValueError(str("value cannot be converted to type ", dtype_name(type), " without overflow, got ", value));
  }
  void add(const Scalar& value, ScalarType type) {
    values_.push_back(value);
    dtype_ = dtype_ ? promote_types(*dtype_, type) : type;
  }
  void read_tensor(const Tensor& t, size_t dim) {
    const bool fits = static_cast<size_t>(t.dim()) == sizes_.size() - dim &&
                      std::equal(t.sizes().begin(), t.sizes().end(), sizes_.begin() + static_cast<ptrdiff_t>(dim));
    if (!fits && t.numel() != 1) throw ValueError("only one element tensors can be converted to Python scalars");
    const NoGradGuard no_grad;
    const Tensor flat = t.detach().cpu().reshape({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const Scalar value = flat.select(0, i).item();
      add(value, t.dtype());
    }
  }
  // As in PyTorch, whose error is of another type if it looks for a dtype.
  [[noreturn]] void refuse(PyObject* value, size_t dim) const {
    const bool text = PyUnicode_Check(value);
    ARGAND_CHECK(ValueError, !text || dim == 0 || !values_.empty(), "too many dimensions 'str'");
    if (infers_ && !text && !PyBytes_Check(value))
      PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %s", type_name(value).c_str());
    else
      PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'", type_name(value).c_str());
    throw nb::python_error();
  }
  [[noreturn]] void ragged(size_t dim, PyObject* value) const {
    if (is_nested(value)) throw ValueError(str("expected a number at dim ", dim, " (got ", type_name(value), ")"));
    PyErr_Format(PyExc_TypeError, "expected a sequence of length %lld at dim %zu (got %s): not a sequence",
                 static_cast<long long>(sizes_[dim]), dim, type_name(value).c_str());
    throw nb::python_error();
  }

  Dims sizes_;
  bool infers_;
  std::vector<Scalar> values_;
  std::optional<ScalarType> dtype_;
  bool beyond_64_bits_ = false;
  PyTypeObject* numpy_double_ = nullptr;  // numpy.float64, a subclass of float, once one was seen
};

// The tensor that `value` becomes, as modes want it.
PyObject* new_from(PyObject* value, const TensorOptions& options) {
  Tensor made = tensor_from(value, options);
  return is_tensor(value) ? wrap(std::move(made)) : shown(std::move(made));
}

Dims read_dims(nb::handle tuple) {
  Dims out;
  for (const nb::handle item : tuple) out.push_back(to_integer(item.ptr()));
  return out;
}

}  // namespace

bool is_array(PyObject* object) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array_interface__");
}

Tensor tensor_over(PyObject* array) {
  const nb::dict interface = nb::handle(array).attr("__array_interface__");
  const ScalarType type = dtype_of_typestr(nb::cast<std::string>(interface["typestr"]));
  const Dims sizes = read_dims(interface["shape"]);
  const auto address = nb::cast<uintptr_t>(nb::handle(interface["data"])[0]);
  const nb::object bytes = interface.contains("strides") ? nb::object(interface["strides"]) : nb::none();
  Dims strides;
  if (bytes.is_none()) {
    strides = contiguous_strides(sizes);
  } else {
    for (const int64_t stride : read_dims(bytes)) {
      ARGAND_CHECK(
          ValueError, stride >= 0,
          "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
          "currently supported. (You can probably work around this by making a copy of your array with "
          "array.copy().)");
      ARGAND_CHECK(ValueError, stride % element_size(type) == 0,
                   "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                   "reallocate the memory.");
      strides.push_back(stride / element_size(type));
    }
  }
  const SharedRef owner{nb::borrow(array)};
  return from_blob(
      reinterpret_cast<void*>(address), sizes, strides, [owner](void*) {}, TensorOptions(type));
}

// Returns the tensor over a storage, whose class is written in Python; nothing for other values.
static nb::object elements_of_storage(PyObject* value, const TensorOptions& options) {
  if (PyList_Check(value) || PyTuple_Check(value) || is_tensor(value) || is_number(value, false) ||
      !PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "_tensor_over"))
    return {};
  return nb::handle(value).attr("_tensor_over")(
      nb::borrow(dtype_object(options.has_dtype() ? options.dtype() : get_default_dtype())));
}

// Returns a tensor over the memory of another library's object that gives DLPack capsules; nothing for other values.
static nb::object elements_by_dlpack(PyObject* value) {
  if (PyList_Check(value) || PyTuple_Check(value) || is_tensor(value) || is_number(value, false) || is_array(value) ||
      !PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__dlpack__"))
    return {};
  return nb::module_::import_("argand.utils.dlpack").attr("from_dlpack")(nb::borrow(value));
}

Tensor tensor_from(PyObject* value, const TensorOptions& options) {
  // Modes see what is done with a tensor, and are shown the tensor that anything else becomes.
  const exec::DispatchStateGuard unseen(is_tensor(value) ? uint8_t{0} : uint8_t{exec::DispatchHooks::kOff});
  Tensor out;
  nb::object elements = elements_of_storage(value, options);
  if (!elements.is_valid()) elements = elements_by_dlpack(value);
  if (elements.is_valid() || is_tensor(value) || is_array(value)) {
    const NoGradGuard no_grad;
    const Tensor source = elements.is_valid() ? as_tensor(elements.ptr())
                          : is_tensor(value)  ? as_tensor(value).detach()
                                              : tensor_over(value);
    const NoGil no_gil;
    const Device device = options.device_opt().value_or(source.device());
    out = source.to(TensorOptions(options.has_dtype() ? options.dtype() : source.dtype()).device(device), false, true);
    if (options.pinned_memory()) out = out.pin_memory();
  } else {
    Reader reader(shape_of(value), !options.has_dtype());
    reader.read(value);
    out = reader.finish(options);
    const NoGil no_gil;
    if (!options.device().is_cpu()) out = out.to(options.device());
  }
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

// Checks the argument `device`, which must be the device that the tensor has anyway.
static void check_legacy_device(PyObject* arguments, PyObject* keywords) {
  PyObject* const given = PyDict_GetItemString(keywords, "device");
  ARGAND_CHECK(ValueError, given && PyDict_Size(keywords) == 1,
               "Tensor(): takes sizes or data, and device; use torch.tensor for dtype and requires_grad");
  ARGAND_CHECK(ValueError, PyTuple_Size(arguments) != 1 || !is_tensor(PyTuple_GetItem(arguments, 0)),
               "Tensor(): Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported. "
               "Use torch.tensor(...) or torch.as_tensor(...) instead.");
  if (given == Py_None) return;
  const std::optional<Device> device = as_device(given);
  if (!device) {
    PyErr_Format(PyExc_TypeError, "Tensor(): expected a device, got %s", type_name(given).c_str());
    throw nb::python_error();
  }
  const Device there = argand::empty({0}).device();
  ARGAND_CHECK(ValueError, device->type() == there.type(),
               "Tensor(): legacy constructor expects device type: ", there.type(), " but device type: ", device->type(),
               " was passed");
}

// Whether the arguments of a legacy constructor are one sequence of elements; else they are sizes, integers of any
// kind. TypeError if they are neither.
static bool is_legacy_data(PyObject* arguments) {
  const Py_ssize_t n = PyTuple_Size(arguments);
  PyObject* const first = PyTuple_GetItem(arguments, 0);
  if (is_integer(first, false)) return false;
  if (n == 1 && PySequence_Check(first)) return true;
  if (n == 1)
    PyErr_Format(PyExc_TypeError, "new(): data must be a sequence (got %s)", type_name(first).c_str());
  else
    PyErr_Format(PyExc_TypeError,
                 "new() received an invalid combination of arguments: the first of %zd is a %s, but expected sizes, or "
                 "one tensor, storage or sequence",
                 n, type_name(first).c_str());
  throw nb::python_error();
}

Tensor legacy_tensor(PyObject* arguments, PyObject* keywords) {
  const Py_ssize_t n = PyTuple_Size(arguments);
  if (keywords && PyDict_Size(keywords) > 0) check_legacy_device(arguments, keywords);
  if (n == 0) return argand::empty({0});
  PyObject* const first = PyTuple_GetItem(arguments, 0);
  if (n == 1 && is_tensor(first)) return argand::alias(as_tensor(first)).detach();
  if (n == 1)
    if (const nb::object elements = elements_of_storage(first, TensorOptions(get_default_dtype())); elements.is_valid())
      return as_tensor(elements.ptr());
  if (n == 1 && PyObject_TypeCheck(first, size_type)) return argand::empty(read_dims(first));
  if (is_legacy_data(arguments)) return as_tensor(nb::steal(new_from(first, TensorOptions(get_default_dtype()))).ptr());
  return argand::empty(read_dims(arguments));
}

namespace {

Tensor shared_with(PyObject* array) {
  if (is_ndarray(array) && nb::cast<bool>(nb::handle(array).attr("__array_interface__")["data"][1]))
    ARGAND_WARN_ONCE(
        "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
        "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
        "it writable before converting it to a tensor.");
  return tensor_over(array);
}

// The default device if none is given; but while that is the CPU (the initial default), a tensor stays on its device.
TensorOptions on_device_for(PyObject* data, const TensorOptions& options) {
  if (options.has_device()) return options;
  const Device device = default_device();
  return options.device(device.is_cpu() && python::is_tensor(data) ? as_tensor(data).device() : device);
}

#define ARGAND_OPTION(name_, kind_, keyword_only_) \
  { .name = name_, .kind = kind_, .optional = true, .has_default = true, .keyword_only = keyword_only_ }
constexpr Parameter kTensor[] = {
    {.name = "data", .kind = Kind::kAny},           ARGAND_OPTION("dtype", Kind::kDtype, true),
    ARGAND_OPTION("layout", Kind::kLayout, true),   ARGAND_OPTION("device", Kind::kDevice, true),
    ARGAND_OPTION("pin_memory", Kind::kBool, true), ARGAND_OPTION("requires_grad", Kind::kBool, true)};
constexpr Overload kTensorOverload = {
    "data, *, dtype=None, device=None, requires_grad=False, pin_memory=False", kTensor,
    [](const Call& c) { return new_from(c.object(0), on_device_for(c.object(0), c.options(1))); }, nullptr};
constexpr FunctionTable kTensorTable = {
    "tensor",
    "A new tensor with the elements of data: nested sequences, a number, an array or a tensor.",
    {&kTensorOverload, 1}};

constexpr Parameter kAsTensor[] = {{.name = "data", .kind = Kind::kAny},
                                   ARGAND_OPTION("dtype", Kind::kDtype, false),
                                   ARGAND_OPTION("device", Kind::kDevice, false)};
// Shares memory if the data already has the requested dtype and device.
PyObject* as_tensor_function(const Call& c) {
  PyObject* const data = c.object(0);
  TensorOptions options = on_device_for(data, TensorOptions().dtype(c.optional_dtype(1)).device(c.optional_device(2)));
  const nb::object elements = elements_by_dlpack(data);
  if (!elements.is_valid() && !python::is_tensor(data) && !is_array(data)) return new_from(data, options);
  const Tensor source = elements.is_valid()       ? as_tensor(elements.ptr())
                        : python::is_tensor(data) ? as_tensor(data)
                                                  : as_tensor(nb::steal(shown(shared_with(data))).ptr());
  if (!options.has_dtype()) options = options.dtype(source.dtype());
  return answer(c, [&] { return source.to(options); });
}
constexpr Overload kAsTensorOverload = {"data, dtype=None, device=None", kAsTensor, as_tensor_function, nullptr};
constexpr FunctionTable kAsTensorTable = {
    "as_tensor", "data as a tensor, sharing its memory where that is possible.", {&kAsTensorOverload, 1}};

constexpr Parameter kFromNumpy[] = {{.name = "ndarray", .kind = Kind::kAny}};
constexpr Overload kFromNumpyOverload = {"ndarray", kFromNumpy,
                                         [](const Call& c) {
                                           if (!is_array(c.object(0))) {
                                             PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %s)",
                                                          type_name(c.object(0)).c_str());
                                             throw nb::python_error();
                                           }
                                           return shown(shared_with(c.object(0)));
                                         },
                                         nullptr};
constexpr FunctionTable kFromNumpyTable = {
    "from_numpy", "A tensor over the memory of a NumPy array: writing one writes the other.", {&kFromNumpyOverload, 1}};

constexpr Parameter kNewTensor[] = {
    {.name = "self", .kind = Kind::kTensor},          {.name = "data", .kind = Kind::kAny},
    ARGAND_OPTION("dtype", Kind::kDtype, true),       ARGAND_OPTION("layout", Kind::kLayout, true),
    ARGAND_OPTION("device", Kind::kDevice, true),     ARGAND_OPTION("pin_memory", Kind::kBool, true),
    ARGAND_OPTION("requires_grad", Kind::kBool, true)};
#undef ARGAND_OPTION
constexpr Overload kNewTensorOverload = {"data, *, dtype=None, device=None, requires_grad=False", kNewTensor,
                                         [](const Call& c) {
                                           const TensorOptions like =
                                               TensorOptions(c.tensor(0).dtype()).device(c.tensor(0).device());
                                           return new_from(c.object(1), like.merge_in(c.options(2)));
                                         },
                                         nullptr};
constexpr FunctionTable kNewTensorTable = {"new_tensor",
                                           "A new tensor with the elements of data, of self's dtype and on its device.",
                                           {&kNewTensorOverload, 1}};

}  // namespace

void add_literals(nb::module_& module) {
  for (const FunctionTable* table : {&kTensorTable, &kAsTensorTable, &kFromNumpyTable})
    add_function(module.ptr(), *table);
  add_method(tensor_type, kNewTensorTable);
  module.def("_is_legacy_data", [](nb::tuple arguments) { return is_legacy_data(arguments.ptr()); });
}

}  // namespace argand::python
