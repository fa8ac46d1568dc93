// Tensors to and from other libraries without copies, by DLPack (https://dmlc.github.io/dlpack).
//
// DLManagedTensor is of version 0.8, which all libraries read; DLManagedTensorVersioned is of version 1, which says
// whether the memory may be written.  The structs have DLPack's names and layout, so that a pointer to the one of
// dlpack.h is a pointer to the one here.
#pragma once
#include "argand/core/tensor.h"

namespace argand::dlpack {

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
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;  // flags

// A tensor that the other side cannot take, or one of its that we cannot take.
class Unsupported : public ValueError {
 public:
  using ValueError::ValueError;
};

// The device of a tensor of the CPU or of CUDA; Unsupported for others.
DLDevice device_of(const Tensor& t);

// Shows the memory that `t` has now, in the order of its elements, until the deleter is called, from any thread. On a
// GPU it waits for the current stream.
DLManagedTensor* export_tensor(const Tensor& t);
DLManagedTensorVersioned* export_versioned(const Tensor& t, uint64_t flags = 0);

// A tensor over the memory, which calls the deleter at its end.  After an exception the caller still owns `managed`.
Tensor import_tensor(DLManagedTensor* managed);
Tensor import_versioned(DLManagedTensorVersioned* managed);

}  // namespace argand::dlpack
