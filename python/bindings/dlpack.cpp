// Tensors to and from other libraries without copies, by DLPack (https://dmlc.github.io/dlpack).
//
// The structures are those of the protocol's version 0.8, which all libraries read: a capsule "dltensor" owns a
// DLManagedTensor until a consumer takes it over and renames the capsule "used_dltensor".
#include "argand/exec/cuda.h"
#include "argand/ops/create/blob.h"
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
constexpr int32_t kDLCpu = 1, kDLCuda = 2, kDLCudaHost = 3;

// Code and bits of each dtype: 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool.
constexpr std::pair<ScalarType, DLDataType> kTypes[] = {
    {kByte, {1, 8, 1}},      {kChar, {0, 8, 1}},          {kShort, {0, 16, 1}},          {kInt, {0, 32, 1}},
    {kLong, {0, 64, 1}},     {kHalf, {2, 16, 1}},         {kFloat, {2, 32, 1}},          {kDouble, {2, 64, 1}},
    {kBFloat16, {4, 16, 1}}, {kComplexFloat, {5, 64, 1}}, {kComplexDouble, {5, 128, 1}}, {kBool, {6, 8, 1}}};

// What an exported tensor keeps alive.
struct Exported {
  DLManagedTensor managed;
  Tensor tensor;
  Dims shape, strides;
};

void free_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

DLDevice device_of(const Tensor& t) {
  return t.is_cuda() ? DLDevice{kDLCuda, t.device().index()} : DLDevice{t.is_pinned() ? kDLCudaHost : kDLCpu, 0};
}

nb::object to_dlpack(const Tensor& t) {
  ARGAND_CHECK(ValueError, !t.requires_grad(), "Can't export tensors that require gradient, use tensor.detach()");
  ARGAND_CHECK(DeviceError, t.is_cpu() || t.is_cuda(), "to_dlpack: expected a tensor on the CPU or a CUDA device, got ",
               t.device());
  auto exported = std::make_unique<Exported>();
  t.storage()->fix_size();
  exported->tensor = t.detach();  // the memory of now, whatever `t` is given later
  exported->shape = Dims(t.sizes());
  exported->strides = Dims(t.strides());
  DLTensor& out = exported->managed.dl_tensor;
  {
    const NoGil no_gil;
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
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* m) { delete static_cast<Exported*>(m->manager_ctx); };
  PyObject* const capsule = PyCapsule_New(&exported->managed, "dltensor", free_capsule);
  if (!capsule) throw nb::python_error();
  exported.release();
  return nb::steal(capsule);
}

Tensor from_dlpack(nb::object capsule) {
  ARGAND_CHECK(ValueError, PyCapsule_IsValid(capsule.ptr(), "dltensor"),
               "from_dlpack: expected a capsule named 'dltensor' that was not consumed before");
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  const DLTensor& in = managed->dl_tensor;
  std::optional<ScalarType> type;
  for (const auto& [known, code] : kTypes)
    if (code.code == in.dtype.code && code.bits == in.dtype.bits && in.dtype.lanes == 1) type = known;
  ARGAND_CHECK(DtypeError, type, "from_dlpack: there is no dtype for code ", int{in.dtype.code}, " with ",
               int{in.dtype.bits}, " bits and ", in.dtype.lanes, " lanes");
  const bool cuda = in.device.device_type == kDLCuda;
  ARGAND_CHECK(DeviceError, cuda || in.device.device_type == kDLCpu || in.device.device_type == kDLCudaHost,
               "from_dlpack: expected a device of type CPU or CUDA, got type ", in.device.device_type);
  const IntArrayRef sizes(in.shape, static_cast<size_t>(in.ndim));
  const Dims strides =
      in.strides ? Dims(IntArrayRef(in.strides, static_cast<size_t>(in.ndim))) : contiguous_strides(sizes);
  const TensorOptions options =
      TensorOptions(*type).device(cuda ? Device(kCUDA, static_cast<DeviceIndex>(in.device.device_id)) : Device(kCPU));
  Tensor out = from_blob(
      static_cast<char*>(in.data) + in.byte_offset, sizes, strides,
      [managed](void*) {
        if (managed->deleter) managed->deleter(managed);
      },
      options);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return out;
}

}  // namespace

void add_dlpack(nb::module_& module) {
  module.def("_to_dlpack", to_dlpack);
  module.def("_from_dlpack", from_dlpack);
  module.def("_dlpack_device", [](const Tensor& t) {
    const DLDevice device = device_of(t);
    return nb::make_tuple(device.device_type, device.device_id);
  });
}

}  // namespace argand::python
