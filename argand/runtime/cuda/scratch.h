// Working memory of a device for the kernels of one call.  It is freed when the host leaves the scope, and reused by
// later work of the same stream.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Memory of the current device, for the current stream.
class Scratch {
 public:
  template <class N>
  explicit Scratch(N nbytes) : allocator_(allocator_for(kCUDA)), nbytes_(static_cast<size_t>(nbytes)) {
    if (nbytes_ > 0) data_ = allocator_.allocate(nbytes_);
  }
  ~Scratch() {
    if (data_) allocator_.deallocate(data_, nbytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Allocator& allocator_;
  size_t nbytes_;
  void* data_ = nullptr;
};

}  // namespace argand::cuda
