// A tensor as one flat run of elements, for ops that update lists of tensors.
#pragma once
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {

// Itself where it is dense, else a copy that write_back() returns to it.
class Flat {
 public:
  explicit Flat(const Tensor& t) : tensor_(t), dense_(t.is_contiguous() ? t : exec::dense_clone(t)) {}
  void write_back() const {
    if (!tensor_.is_same(dense_)) exec::copy_elements(tensor_, dense_);
  }
  template <class T>
  T* data() const {
    return raw<T>(dense_);
  }
  void* address() const { return dense_.impl().data(); }

 private:
  Tensor tensor_, dense_;
};

}  // namespace argand::ops
