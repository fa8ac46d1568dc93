// The object to which a Tensor handle points: a layout over a storage, and autograd's data.
#pragma once
#include <memory>

#include "argand/core/options.h"
#include "argand/core/scalar.h"
#include "argand/core/storage.h"

namespace argand {

// Autograd's data of a tensor; defined in exec/graph.h.
class AutogradMeta;
struct AutogradMetaDeleter {
  void operator()(AutogradMeta* meta) const;
};

class TensorImpl final : public RefCounted {
 public:
  TensorImpl(StoragePtr storage, Dims sizes, Dims strides, int64_t offset, ScalarType dtype)
      : storage(std::move(storage)),
        sizes(std::move(sizes)),
        strides(std::move(strides)),
        offset(offset),
        dtype(dtype) {
    refresh();
  }
  ~TensorImpl() override;

  // Recomputes what is derived from sizes and strides; call after changing them.
  void refresh() {
    count = 1;
    for (const int64_t s : this->sizes) count *= s;
    contiguous = is_contiguous(this->sizes, this->strides);
  }
  const Device& device() const { return storage->device(); }
  int64_t numel() const { return count; }
  int64_t dim() const { return static_cast<int64_t>(sizes.size()); }
  // LibTorch's names for autograd's data, null if there is none, and for the count of in-place writes; GradError for
  // the count of a tensor made in InferenceMode.
  AutogradMeta* autograd_meta() const { return autograd.get(); }
  class VersionCounter {
   public:
    explicit VersionCounter(const TensorImpl& of) : of_(of) {}
    uint32_t current_version() const;

   private:
    const TensorImpl& of_;
  };
  VersionCounter version_counter() const { return VersionCounter(*this); }
  void bump_version() const;
  // Address of element 0, with pending writes done.
  void* data() const { return address_in(storage->data()); }
  void* issued_data() const { return address_in(storage->issued_data()); }

  StoragePtr storage;
  Dims sizes, strides;
  int64_t offset = 0;  // in elements
  int64_t count = 0;   // of elements
  ScalarType dtype;
  bool contiguous = true;
  bool wrapped_number = false;  // a C++ or Python number as an operand: lower priority in type promotion
  bool inference = false;       // made under InferenceMode: never part of a graph
  std::unique_ptr<AutogradMeta, AutogradMetaDeleter> autograd;
  // The object of another language that stands for this tensor, so that it is the same one each time it is asked for.
  // Whoever sets it must clear it before the object is destroyed.  For its lowest bit see exec/dispatch_hooks.h.
  void* front_object = nullptr;

 private:
  void* address_in(void* base) const {
    return base ? static_cast<char*>(base) + offset * element_size(dtype) : nullptr;
  }
};

}  // namespace argand
