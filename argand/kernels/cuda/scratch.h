// Working memory of one call on the current device.  Given back at once: what runs later on the same stream may use it
// again, when the kernels of the call are done.
#pragma once
#include "argand/runtime/cuda/memory.h"

namespace argand::cuda {

class Scratch {
 public:
  explicit Scratch(int64_t nbytes);
  ~Scratch() { allocator_.deallocate(data_, nbytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  Allocator& allocator_;
  size_t nbytes_;
  void* data_;
};

}  // namespace argand::cuda
