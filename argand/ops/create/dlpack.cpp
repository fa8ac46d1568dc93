#include "argand/ops/create/dlpack.h"

#include <memory>

#include "argand/exec/cuda.h"
#include "argand/ops/create/blob.h"

namespace argand::dlpack {
namespace {

constexpr int32_t kDLCpu = 1, kDLCuda = 2, kDLCudaHost = 3;
constexpr DLPackVersion kVersion = {1, 0};

// Code and bits of each dtype: 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool.
constexpr std::pair<ScalarType, DLDataType> kTypes[] = {
    {kByte, {1, 8, 1}},      {kChar, {0, 8, 1}},          {kShort, {0, 16, 1}},          {kInt, {0, 32, 1}},
    {kLong, {0, 64, 1}},     {kHalf, {2, 16, 1}},         {kFloat, {2, 32, 1}},          {kDouble, {2, 64, 1}},
    {kBFloat16, {4, 16, 1}}, {kComplexFloat, {5, 64, 1}}, {kComplexDouble, {5, 128, 1}}, {kBool, {6, 8, 1}}};

// An exported tensor in the form of DLPack, with the handle that keeps its memory.
template <class Managed>
struct Exported {
  Managed managed;
  Tensor tensor;
  Dims shape, strides;
};

template <class Managed>
Managed* export_as(const Tensor& t) {
  const DLDevice device = device_of(t);
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = t.detach();  // the memory of now, whatever `t` is given later
  exported->shape = Dims(t.sizes());
  exported->strides = Dims(t.strides());
  DLTensor& out = exported->managed.dl_tensor;
  t.storage()->fix_size();
  out.data = t.data_ptr();  // exposed: later writes are never held back
  if (t.is_cuda()) cuda::current_stream(t.device().index()).synchronize();
  out.device = device;
  out.ndim = static_cast<int32_t>(t.dim());
  for (const auto& [type, code] : kTypes)
    if (type == t.dtype()) out.dtype = code;
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  out.byte_offset = 0;
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* m) { delete static_cast<Exported<Managed>*>(m->manager_ctx); };
  return &exported.release()->managed;
}

ScalarType type_of(const DLDataType& in) {
  for (const auto& [known, code] : kTypes)
    if (code.code == in.code && code.bits == in.bits && in.lanes == 1) return known;
  ARGAND_THROW(dlpack::Unsupported, "from_dlpack: there is no dtype for code ", int{in.code}, " with ", int{in.bits},
               " bits and ", in.lanes, " lanes");
}

Device device_of(const DLDevice& in) {
  if (in.device_type == kDLCuda) return Device(kCUDA, static_cast<DeviceIndex>(in.device_id));
  ARGAND_CHECK(dlpack::Unsupported, in.device_type == kDLCpu || in.device_type == kDLCudaHost,
               "from_dlpack: expected a device of type CPU or CUDA, got type ", in.device_type);
  return kCPU;
}

template <class Managed>
Tensor import_from(Managed* managed) {
  const DLTensor& in = managed->dl_tensor;
  const TensorOptions options = TensorOptions(type_of(in.dtype)).device(device_of(in.device));
  const IntArrayRef sizes(in.shape, static_cast<size_t>(in.ndim));
  const Dims strides =
      in.strides ? Dims(IntArrayRef(in.strides, static_cast<size_t>(in.ndim))) : contiguous_strides(sizes);
  return from_blob(
      static_cast<char*>(in.data) + in.byte_offset, sizes, strides,
      [managed](void*) {
        if (managed->deleter) managed->deleter(managed);
      },
      options);
}

}  // namespace

DLDevice device_of(const Tensor& t) {
  ARGAND_CHECK(dlpack::Unsupported, t.is_cpu() || t.is_cuda(), "Cannot pack tensors on ", t.device());
  return t.is_cuda() ? DLDevice{kDLCuda, t.device().index()} : DLDevice{t.is_pinned() ? kDLCudaHost : kDLCpu, 0};
}

DLManagedTensor* export_tensor(const Tensor& t) { return export_as<DLManagedTensor>(t); }

DLManagedTensorVersioned* export_versioned(const Tensor& t, uint64_t flags) {
  DLManagedTensorVersioned* const out = export_as<DLManagedTensorVersioned>(t);
  out->version = kVersion;
  out->flags = flags;
  return out;
}

Tensor import_tensor(DLManagedTensor* managed) { return import_from(managed); }

Tensor import_versioned(DLManagedTensorVersioned* managed) {
  ARGAND_CHECK(dlpack::Unsupported, managed->version.major == kVersion.major,
               "from_dlpack: expected a capsule of DLPack version 1, got version ", managed->version.major, ".",
               managed->version.minor);
  return import_from(managed);
}

}  // namespace argand::dlpack
