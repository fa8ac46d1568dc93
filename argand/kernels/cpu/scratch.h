// Uninitialised working memory for one call: on the stack up to InlineBytes, else from the CPU allocator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "argand/runtime/cpu/aligned_allocator.h"

namespace argand {

template <class T, size_t InlineBytes = 0>
class ScratchBuffer {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Throws OutOfMemoryError.
  explicit ScratchBuffer(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)) {
    data_ = bytes_ <= InlineBytes ? reinterpret_cast<T*>(inline_) : static_cast<T*>(allocate_aligned(bytes_));
  }
  ~ScratchBuffer() {
    if (bytes_ > InlineBytes) deallocate_aligned(data_, bytes_);
  }
  ScratchBuffer(const ScratchBuffer&) = delete;
  ScratchBuffer& operator=(const ScratchBuffer&) = delete;

  T* data() { return data_; }

 private:
  size_t bytes_;
  T* data_;
  alignas(kAllocationAlignment) std::byte inline_[InlineBytes == 0 ? 1 : InlineBytes];
};

}  // namespace argand
