// Memory for the work that a block issues on the current stream.
#pragma once
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

// Gone at the end of the scope: the stream runs in order, so what uses the bytes next comes after this scope's work.
class Scratch {
 public:
  explicit Scratch(size_t nbytes) {
    int device = 0;
    ARGAND_CUDA(cudaGetDevice(&device));
    allocator_ = &caching_allocator(device);
    data_ = allocator_->allocate(nbytes, current_stream());
  }
  ~Scratch() { allocator_->deallocate(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }

 private:
  CachingAllocator* allocator_;
  void* data_;
};

}  // namespace argand::cuda
