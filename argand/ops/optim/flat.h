// A tensor as one flat run of elements, for ops that update lists of tensors.
#pragma once
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {

// The tensor itself if its elements are dense in the memory order of `like`, or in their own; else a copy that
// write_back() copies back.  The tensor must outlive this object.
class Flat {
 public:
  explicit Flat(const Tensor& t) : Flat(t, t) {}
  Flat(const Tensor& t, const Tensor& like) : tensor_(t), copy_(copy_in_order(t, like)) {
    tensor_.impl().data();  // issues the work that still reads or writes the old elements
  }
  bool is_copy() const { return copy_.defined(); }
  // Does not throw on the CPU.
  void write_back() const {
    if (!is_copy()) return;
    if (tensor_.is_cpu())
      exec::store_elements(tensor_, copy_);
    else
      exec::copy_elements(tensor_, copy_);
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(address());
  }
  void* address() const { return (is_copy() ? copy_ : tensor_).impl().data(); }

 private:
  // Undefined if none is needed.
  static Tensor copy_in_order(const Tensor& t, const Tensor& like) {
    if (t.is_contiguous() && like.is_contiguous()) return {};
    if (!like.is_non_overlapping_and_dense()) return t.is_contiguous() ? Tensor() : exec::dense_clone(t);
    if (t.strides() == like.strides()) return {};
    return exec::dense_clone(t, t.dtype(), Dims(like.strides()));
  }

  const Tensor& tensor_;
  Tensor copy_;
};

}  // namespace argand::ops
