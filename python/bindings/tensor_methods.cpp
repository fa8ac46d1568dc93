// Methods of tensors that are no ops.
#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/core/watched_bytes.h"
#include "argand/exec/cuda.h"
#include "argand/ops/functions.h"
#include "argand/ops/print/print.h"
#include "argand/runtime/cpu/memory_limits.h"
#include "bindings/call.h"
#include "bindings/constants.h"
#include "bindings/dispatch.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

// ---- without arguments

template <class F>
PyObject* plain(PyObject* self, const F& f) noexcept {
  return guarded([&] { return to_python(f(as_tensor(self))); });
}
#define ARGAND_PLAIN(name, expression)                              \
  PyObject* name(PyObject* self, PyObject*) {                       \
    return plain(self, [](const Tensor& t) { return expression; }); \
  }
ARGAND_PLAIN(dim, t.dim())
ARGAND_PLAIN(numel, t.numel())
ARGAND_PLAIN(element_size, t.itemsize())
ARGAND_PLAIN(storage_offset, t.storage_offset())
ARGAND_PLAIN(get_device, int64_t{t.get_device()})
ARGAND_PLAIN(is_floating_point, t.is_floating_point())
ARGAND_PLAIN(is_complex, t.is_complex())
ARGAND_PLAIN(is_signed, t.is_signed())
ARGAND_PLAIN(is_inference, t.is_inference())
ARGAND_PLAIN(is_pinned, t.is_pinned())
ARGAND_PLAIN(is_view, t.is_view())
#undef ARGAND_PLAIN

PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    void* address = nullptr;  // of a tensor that has no elements, or none with bytes
    const Tensor& t = as_tensor(self);
    if (t.numel() > 0 && !t.is_meta()) {
      const NoGil no_gil;
      address = t.data_ptr();
    }
    return PyLong_FromVoidPtr(address);
  });
}
PyObject* item(PyObject* self, PyObject*) {
  return guarded([&] {
    Scalar value;
    {
      const NoGil no_gil;
      value = as_tensor(self).item();
    }
    return wrap(value);
  });
}
PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&] {
    as_tensor(self).retain_grad();
    return Py_NewRef(Py_None);
  });
}
PyObject* detach_in_place(PyObject* self, PyObject*) {
  return guarded([&] {
    reinterpret_cast<TensorObject*>(self)->tensor.detach_();
    return Py_NewRef(self);
  });
}
PyObject* pin_memory(PyObject* self, PyObject*) {
  return guarded([&] {
    Tensor result;
    {
      const NoGil no_gil;
      result = as_tensor(self).pin_memory();
    }
    return wrap(std::move(result));
  });
}

PyObject* nested_list(const Tensor& t, int64_t d, int64_t offset, const std::function<PyObject*(int64_t)>& element) {
  if (d == t.dim()) return element(offset);
  const int64_t n = t.sizes()[static_cast<size_t>(d)], stride = t.strides()[static_cast<size_t>(d)];
  nb::object list = owned(PyList_New(n));
  for (int64_t i = 0; i < n; ++i) {
    PyObject* const inner = nested_list(t, d + 1, offset + i * stride, element);
    if (!inner) return nullptr;
    PyList_SetItem(list.ptr(), i, inner);
  }
  return list.release().ptr();
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    if (front_of(as_tensor(self).impl())) {
      set_error(PyExc_RuntimeError, ".tolist() is not supported for tensor subclasses.");
      throw nb::python_error();
    }
    Tensor t = as_tensor(self).detach();
    // The lists of an expanded tensor may exceed all memory, which is found before any are made.
    const auto count = static_cast<size_t>(t.numel());
    const size_t bytes = count > SIZE_MAX / sizeof(PyObject*) ? SIZE_MAX : count * sizeof(PyObject*);
    if (bytes > kAlwaysTried && bytes > most_memory(bytes)) {
      set_error(PyExc_MemoryError,
                str("tolist: lists of ", t.numel(), " numbers are more than this machine's memory").c_str());
      throw nb::python_error();
    }
    {
      const NoGil no_gil;
      t = t.cpu();
      (void)t.impl().data();  // waits for pending work
    }
    return dispatch<kAllTypes>(t.dtype(), "tolist", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* const data = static_cast<const T*>(t.impl().data());
      nb::object list = owned(nested_list(t, 0, 0, [data](int64_t at) { return wrap(Scalar(data[at])); }));
      check_watched(*t.storage());
      return list.release().ptr();
    });
  });
}

template <size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&from)[N]) { std::copy_n(from, N, text); }
};
template <Name name, PyCFunction F>
PyObject* asked(PyObject* self, PyObject* nothing) {
  if (is_overridden(&self, 1)) return call_override(name.text, self);
  return F(self, nothing);
}
template <Name name, PyCFunction F>
constexpr PyMethodDef method(const char* text) {
  return {name.text, asked<name, F>, METH_NOARGS, text};
}

PyMethodDef methods[] = {method<"dim", dim>("The number of dimensions."),
                         method<"ndimension", dim>("The number of dimensions."),
                         method<"numel", numel>("The number of elements."),
                         method<"nelement", numel>("The number of elements."),
                         method<"element_size", element_size>("Bytes of one element."),
                         method<"storage_offset", storage_offset>("Elements before the first, in the storage."),
                         method<"get_device", get_device>("The index of the CUDA device, -1 on the CPU."),
                         method<"is_floating_point", is_floating_point>("Whether the dtype is a real float."),
                         method<"is_complex", is_complex>("Whether the dtype is complex."),
                         method<"is_signed", is_signed>("Whether the dtype has negative numbers."),
                         method<"is_inference", is_inference>("Whether it was made in inference mode."),
                         method<"is_pinned", is_pinned>("Whether it is in page-locked memory."),
                         method<"_is_view", is_view>("Whether it is a view made by an op."),
                         method<"data_ptr", data_ptr>("The address of the first element."),
                         method<"item", item>("The only element as a number."),
                         method<"retain_grad", retain_grad>("Keeps the gradient though it is no leaf."),
                         method<"detach_", detach_in_place>("Makes it a leaf without history."),
                         method<"pin_memory", pin_memory>("A copy in page-locked memory."),
                         method<"tolist", tolist>("The elements as nested lists of numbers."),
                         {nullptr, nullptr, 0, nullptr}};

// ---- with arguments

constexpr Parameter kSelf = {.name = "self", .kind = Kind::kTensor};
constexpr Parameter optional(const char* name, Kind kind) {
  return {.name = name, .kind = kind, .optional = true, .has_default = true};
}
constexpr Parameter flag(const char* name) { return {.name = name, .kind = Kind::kBool, .has_default = true}; }
constexpr Parameter keyword(Parameter p) {
  p.keyword_only = true;
  return p;
}

constexpr Parameter kDim[] = {kSelf, optional("dim", Kind::kInt)};
constexpr Overload kSize = {"dim=None", kDim,
                            [](const Call& c) {
                              const auto d = c.optional_integer(1);
                              return d ? to_python(c.tensor(0).size(*d)) : wrap_size(c.tensor(0).sizes());
                            },
                            nullptr};
constexpr Overload kStride = {"dim=None", kDim,
                              [](const Call& c) {
                                const auto d = c.optional_integer(1);
                                if (d) return to_python(c.tensor(0).stride(*d));
                                const nb::object sizes = nb::steal(wrap_size(c.tensor(0).strides()));
                                return PyTuple_GetSlice(sizes.ptr(), 0, PyTuple_Size(sizes.ptr()));
                              },
                              nullptr};

constexpr Parameter kFormat[] = {kSelf, optional("memory_format", Kind::kMemoryFormat)};
constexpr Overload kIsContiguous = {
    "memory_format=torch.contiguous_format", kFormat,
    [](const Call& c) { return to_python(c.tensor(0).is_contiguous(c.memory_format(1, MemoryFormat::Contiguous))); },
    nullptr};

constexpr Parameter kFlag[] = {kSelf, flag("requires_grad")};
constexpr Overload kRequiresGrad = {"requires_grad=True", kFlag,
                                    [](const Call& c) {
                                      c.tensor(0).set_requires_grad(c.boolean(1, true));
                                      return Py_NewRef(c.object(0));
                                    },
                                    nullptr};

constexpr Parameter kSizes[] = {
    kSelf, {.name = "size", .kind = Kind::kIntList}, keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Overload kResize = {"size, *, memory_format=torch.contiguous_format", kSizes,
                              [](const Call& c) {
                                c.tensor(0).resize_(c.integers(1), c.optional_memory_format(2));
                                return Py_NewRef(c.object(0));
                              },
                              nullptr};
constexpr Parameter kSizesOf[] = {
    kSelf, {.name = "the_template", .kind = Kind::kTensor}, keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Overload kResizeAs = {"the_template, *, memory_format=torch.contiguous_format", kSizesOf,
                                [](const Call& c) {
                                  c.tensor(0).resize_as_(c.tensor(1), c.optional_memory_format(2));
                                  return Py_NewRef(c.object(0));
                                },
                                nullptr};

// to(device, dtype), to(dtype), to(other), as PyTorch's parser has them.
PyObject* convert(const Call& c, TensorOptions options, size_t non_blocking) {
  const Tensor& self = c.tensor(0);
  if (!options.has_dtype()) options = options.dtype(self.dtype());
  if (!options.has_device()) options = options.device(self.device());
  return answer(c, [&] {
    return self.to(options, c.boolean(non_blocking), c.boolean(non_blocking + 1),
                   c.optional_memory_format(non_blocking + 2));
  });
}
constexpr Parameter kToDevice[] = {kSelf,
                                   optional("device", Kind::kDevice),
                                   optional("dtype", Kind::kDtype),
                                   flag("non_blocking"),
                                   flag("copy"),
                                   keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Parameter kToDtype[] = {kSelf,
                                  {.name = "dtype", .kind = Kind::kDtype},
                                  flag("non_blocking"),
                                  flag("copy"),
                                  keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Parameter kToOther[] = {kSelf,
                                  {.name = "other", .kind = Kind::kTensor},
                                  flag("non_blocking"),
                                  flag("copy"),
                                  keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Overload kTo[] = {
    {"device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=torch.preserve_format", kToDevice,
     [](const Call& c) {
       return convert(c, TensorOptions().device(c.optional_device(1)).dtype(c.optional_dtype(2)), 3);
     },
     nullptr},
    {"dtype, non_blocking=False, copy=False, *, memory_format=torch.preserve_format", kToDtype,
     [](const Call& c) { return convert(c, TensorOptions(c.dtype(1)), 2); }, nullptr},
    {"other, non_blocking=False, copy=False, *, memory_format=torch.preserve_format", kToOther,
     [](const Call& c) { return convert(c, c.tensor(1).options(), 2); }, nullptr}};

constexpr Parameter kOnDevice[] = {kSelf, optional("device", Kind::kDevice), flag("non_blocking"),
                                   keyword(optional("memory_format", Kind::kMemoryFormat))};
PyObject* move_to(const Call& c, const Device& device) {
  return answer(c, [&] {
    return c.tensor(0).to(TensorOptions(c.tensor(0).dtype()).device(device), c.boolean(2), false,
                          c.optional_memory_format(3));
  });
}
constexpr Overload kCuda = {"device=None, non_blocking=False, memory_format=torch.preserve_format", kOnDevice,
                            [](const Call& c) {
                              const Device device = c.optional_device(1).value_or(Device(kCUDA));
                              ARGAND_CHECK(ValueError, device.is_cuda(), "cuda(): expected a CUDA device, got ",
                                           device);
                              return move_to(c, device);
                            },
                            nullptr};
constexpr Parameter kToCpu[] = {kSelf, keyword(optional("memory_format", Kind::kMemoryFormat))};
constexpr Overload kCpu = {"*, memory_format=torch.preserve_format", kToCpu,
                           [](const Call& c) {
                             return answer(c, [&] {
                               return c.tensor(0).to(TensorOptions(c.tensor(0).dtype()).device(kCPU), false, false,
                                                     c.optional_memory_format(1));
                             });
                           },
                           nullptr};

// The words of torch.set_printoptions, for one call.
constexpr Parameter kPrint[] = {kSelf,
                                {.name = "precision", .kind = Kind::kInt},
                                {.name = "threshold", .kind = Kind::kInt},
                                {.name = "edgeitems", .kind = Kind::kInt},
                                {.name = "linewidth", .kind = Kind::kInt},
                                optional("sci_mode", Kind::kBool)};
constexpr Overload kText = {"precision, threshold, edgeitems, linewidth, sci_mode", kPrint,
                            [](const Call& c) {
                              const PrintOptions options{.precision = static_cast<int>(c.integer(1)),
                                                         .threshold = c.integer(2),
                                                         .edgeitems = c.integer(3),
                                                         .linewidth = c.integer(4),
                                                         .sci_mode = c.optional_boolean(5)};
                              std::string text;
                              {
                                const NoGil no_gil;
                                text = to_string(c.tensor(0), options);
                              }
                              return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
                            },
                            nullptr};

constexpr FunctionTable kTables[] = {
    {"size", "The sizes, or that of one dimension.", {&kSize, 1}},
    {"stride", "Elements between neighbours in each dimension, or in one.", {&kStride, 1}},
    {"is_contiguous", "Whether the elements lie in the order of the format.", {&kIsContiguous, 1}},
    {"requires_grad_", "Sets requires_grad and returns the tensor itself.", {&kRequiresGrad, 1}},
    {"resize_",
     "Gives the tensor other sizes, over more memory if need be; elements that are new hold anything.",
     {&kResize, 1}},
    {"resize_as_", "resize_() to the sizes of another tensor.", {&kResizeAs, 1}},
    {"to", "The tensor with another dtype or on another device; itself if nothing changes.", kTo},
    {"cuda", "The tensor on a CUDA device; itself if it is there.", {&kCuda, 1}},
    {"cpu", "The tensor in the host's memory; itself if it is there.", {&kCpu, 1}},
    {"_text", "The tensor as text, with the options of torch.set_printoptions.", {&kText, 1}},
};

// TypeError unless objects of this type have a tensor in them.
PyTypeObject* subclass(nb::handle type) {
  if (!PyType_Check(type.ptr())) {
    PyErr_Format(PyExc_TypeError, "cls must be a type (got %s)", type_name(type.ptr()).c_str());
    throw nb::python_error();
  }
  auto* const found = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_IsSubtype(found, tensor_type)) {
    PyErr_SetString(PyExc_TypeError,
                    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make "
                    "sure your class inherits from Tensor.");
    throw nb::python_error();
  }
  return found;
}

}  // namespace

void add_tensor_methods(nb::module_& module) {
  for (PyMethodDef* method = methods; method->ml_name; ++method) {
    const nb::object descriptor = nb::steal(PyDescr_NewMethod(tensor_type, method));
    nb::setattr(reinterpret_cast<PyObject*>(tensor_type), method->ml_name, descriptor);
  }
  for (const FunctionTable& table : kTables) add_method(tensor_type, table);
  // The same elements as an object of a subclass: a leaf (Parameter), or with their history.
  module.def("_make_subclass", [](nb::handle type, const Tensor& data, bool requires_grad) {
    const Tensor own = argand::alias(data.detach()).detach();
    own.set_requires_grad(requires_grad);
    return owned(wrap_as(subclass(type), own));
  });
  module.def("_as_subclass",
             [](nb::handle type, const Tensor& t) { return owned(wrap_as(subclass(type), argand::alias(t))); });
}

}  // namespace argand::python
