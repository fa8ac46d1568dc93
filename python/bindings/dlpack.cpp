// Tensors to and from other libraries without copies, by DLPack (argand/ops/create/dlpack.h).
//
// A capsule owns a managed tensor until a consumer takes it over and renames the capsule: "dltensor" holds that of
// version 0.8, and "dltensor_versioned" that of version 1.  The last owner calls the deleter, in whatever thread,
// without the interpreter's lock.
#include "argand/ops/create/dlpack.h"

#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using dlpack::DLManagedTensor, dlpack::DLManagedTensorVersioned;

// How the capsule of a managed tensor is called, before it is consumed and afterwards.
template <class Managed>
constexpr const char* kName = "dltensor";
template <class Managed>
constexpr const char* kUsed = "used_dltensor";
template <>
constexpr const char* kName<DLManagedTensorVersioned> = "dltensor_versioned";
template <>
constexpr const char* kUsed<DLManagedTensorVersioned> = "used_dltensor_versioned";

[[noreturn]] void raise(PyObject* type, const Error& error) {
  set_error(type, error.what());
  throw nb::python_error();
}

// What DLPack does not have is a BufferError, as its page asks.
template <class F>
auto or_buffer_error(F&& f) {
  try {
    return f();
  } catch (const dlpack::Unsupported& e) {
    raise(PyExc_BufferError, e);
  }
}

template <class Managed>
void free_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName<Managed>)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
nb::object capsule_of(Managed* managed) {
  PyObject* const capsule = PyCapsule_New(managed, kName<Managed>, free_capsule<Managed>);
  if (!capsule) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object to_dlpack(const Tensor& t, bool versioned, bool read_only, bool copied) {
  const uint64_t flags = (read_only ? dlpack::kReadOnly : 0) | (copied ? dlpack::kIsCopied : 0);
  if (versioned)
    return capsule_of(or_buffer_error([&] {
      const NoGil no_gil;
      return dlpack::export_versioned(t, flags);
    }));
  return capsule_of(or_buffer_error([&] {
    const NoGil no_gil;
    return dlpack::export_tensor(t);
  }));
}

// The capsule stays the owner of what cannot be taken over.
template <class Managed>
Tensor import_from(PyObject* capsule, Tensor (*import)(Managed*)) {
  Tensor out =
      or_buffer_error([&] { return import(static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>))); });
  PyCapsule_SetName(capsule, kUsed<Managed>);
  return out;
}

Tensor from_dlpack(nb::object capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kName<DLManagedTensorVersioned>))
    return import_from(capsule.ptr(), dlpack::import_versioned);
  ARGAND_CHECK(ValueError, PyCapsule_IsValid(capsule.ptr(), kName<DLManagedTensor>),
               "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
               "might have already constructed a tensor from it once.");
  return import_from(capsule.ptr(), dlpack::import_tensor);
}

}  // namespace

void add_dlpack(nb::module_& module) {
  module.def("_to_dlpack", to_dlpack);
  module.def("_from_dlpack", from_dlpack);
  module.def("_dlpack_device", [](const Tensor& t) {
    if (!t.is_cpu() && !t.is_cuda()) {
      set_error(PyExc_ValueError, str("Unknown device type ", t.device().type(), " for Dlpack"));
      throw nb::python_error();
    }
    const dlpack::DLDevice device = dlpack::device_of(t);
    return nb::make_tuple(device.device_type, device.device_id);
  });
}

}  // namespace argand::python
