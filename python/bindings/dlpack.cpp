// Tensors to and from other libraries without copies, by DLPack (https://dmlc.github.io/dlpack).
//
// A capsule owns a managed tensor until a consumer takes it over and renames the capsule: "dltensor" holds that of
// version 0.8, which all libraries read, and "dltensor_versioned" that of version 1, which says whether the memory may
// be written.  The last owner calls the deleter, in whatever thread, without the interpreter's lock.
#include "argand/exec/cuda.h"
#include "argand/ops/create/blob.h"
#include "bindings/errors.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};
constexpr int32_t kDLCpu = 1, kDLCuda = 2, kDLCudaHost = 3;
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
constexpr DLPackVersion kVersion = {1, 0};

// How the capsule of a managed tensor is called, before it is consumed and afterwards.
template <class Managed>
constexpr const char* kName = "dltensor";
template <class Managed>
constexpr const char* kUsed = "used_dltensor";
template <>
constexpr const char* kName<DLManagedTensorVersioned> = "dltensor_versioned";
template <>
constexpr const char* kUsed<DLManagedTensorVersioned> = "used_dltensor_versioned";

// Code and bits of each dtype: 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool.
constexpr std::pair<ScalarType, DLDataType> kTypes[] = {
    {kByte, {1, 8, 1}},      {kChar, {0, 8, 1}},          {kShort, {0, 16, 1}},          {kInt, {0, 32, 1}},
    {kLong, {0, 64, 1}},     {kHalf, {2, 16, 1}},         {kFloat, {2, 32, 1}},          {kDouble, {2, 64, 1}},
    {kBFloat16, {4, 16, 1}}, {kComplexFloat, {5, 64, 1}}, {kComplexDouble, {5, 128, 1}}, {kBool, {6, 8, 1}}};

// What an exported tensor keeps alive.
template <class Managed>
struct Exported {
  Managed managed;
  Tensor tensor;
  Dims shape, strides;
};

template <class... Parts>
[[noreturn]] void raise_buffer_error(const Parts&... parts) {
  set_error(PyExc_BufferError, str(parts...));
  throw nb::python_error();
}

template <class Managed>
void free_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName<Managed>)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (managed->deleter) managed->deleter(managed);
}

DLDevice device_of(const Tensor& t) {
  return t.is_cuda() ? DLDevice{kDLCuda, t.device().index()} : DLDevice{t.is_pinned() ? kDLCudaHost : kDLCpu, 0};
}

template <class Managed>
nb::object export_as(const Tensor& t, uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = t.detach();  // the memory of now, whatever `t` is given later
  exported->shape = Dims(t.sizes());
  exported->strides = Dims(t.strides());
  DLTensor& out = exported->managed.dl_tensor;
  {
    const NoGil no_gil;
    t.storage()->fix_size();
    out.data = t.data_ptr();  // exposed: later writes are never held back
    if (t.is_cuda()) cuda::current_stream(t.device().index()).synchronize();
  }
  out.device = device_of(t);
  out.ndim = static_cast<int32_t>(t.dim());
  for (const auto& [type, code] : kTypes)
    if (type == t.dtype()) out.dtype = code;
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  out.byte_offset = 0;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    exported->managed.version = kVersion;
    exported->managed.flags = flags;
  }
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* m) { delete static_cast<Exported<Managed>*>(m->manager_ctx); };
  PyObject* const capsule = PyCapsule_New(&exported->managed, kName<Managed>, free_capsule<Managed>);
  if (!capsule) throw nb::python_error();
  exported.release();
  return nb::steal(capsule);
}

nb::object to_dlpack(const Tensor& t, bool versioned, bool read_only, bool copied) {
  if (!t.is_cpu() && !t.is_cuda()) raise_buffer_error("Cannot pack tensors on ", t.device());
  const uint64_t flags = (read_only ? kReadOnly : 0) | (copied ? kIsCopied : 0);
  return versioned ? export_as<DLManagedTensorVersioned>(t, flags) : export_as<DLManagedTensor>(t, flags);
}

ScalarType type_of(const DLDataType& in) {
  for (const auto& [known, code] : kTypes)
    if (code.code == in.code && code.bits == in.bits && in.lanes == 1) return known;
  raise_buffer_error("from_dlpack: there is no dtype for code ", int{in.code}, " with ", int{in.bits}, " bits and ",
                     in.lanes, " lanes");
}

Device device_of(const DLDevice& in) {
  if (in.device_type == kDLCuda) return Device(kCUDA, static_cast<DeviceIndex>(in.device_id));
  if (in.device_type != kDLCpu && in.device_type != kDLCudaHost)
    raise_buffer_error("from_dlpack: expected a device of type CPU or CUDA, got type ", in.device_type);
  return kCPU;
}

// The capsule stays the owner of what cannot be taken over.
template <class Managed>
Tensor import_from(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
    if (managed->version.major != kVersion.major)
      raise_buffer_error("from_dlpack: expected a capsule of DLPack version 1, got version ", managed->version.major,
                         ".", managed->version.minor);
  const DLTensor& in = managed->dl_tensor;
  const TensorOptions options = TensorOptions(type_of(in.dtype)).device(device_of(in.device));
  const IntArrayRef sizes(in.shape, static_cast<size_t>(in.ndim));
  const Dims strides =
      in.strides ? Dims(IntArrayRef(in.strides, static_cast<size_t>(in.ndim))) : contiguous_strides(sizes);
  Tensor out = from_blob(
      static_cast<char*>(in.data) + in.byte_offset, sizes, strides,
      [managed](void*) {
        if (managed->deleter) managed->deleter(managed);
      },
      options);
  PyCapsule_SetName(capsule, kUsed<Managed>);
  return out;
}

Tensor from_dlpack(nb::object capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kName<DLManagedTensorVersioned>))
    return import_from<DLManagedTensorVersioned>(capsule.ptr());
  ARGAND_CHECK(ValueError, PyCapsule_IsValid(capsule.ptr(), kName<DLManagedTensor>),
               "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
               "might have already constructed a tensor from it once.");
  return import_from<DLManagedTensor>(capsule.ptr());
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
    const DLDevice device = device_of(t);
    return nb::make_tuple(device.device_type, device.device_id);
  });
}

}  // namespace argand::python
