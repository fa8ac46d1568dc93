// Memory for the work that a block issues on the current stream.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Gone at the end of the scope: the stream runs in order, so what uses the bytes next comes after this scope's work.
class Scratch {
 public:
  explicit Scratch(size_t nbytes)
      : allocator_(allocator_for(kCUDA)), nbytes_(nbytes), data_(allocator_.allocate(nbytes)) {}
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
