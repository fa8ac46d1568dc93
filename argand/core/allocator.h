// The interface through which storages get their bytes.  `runtime` implements it per device.
#pragma once
#include <cstddef>
#include <cstdint>

#include "argand/core/device.h"

namespace argand {

class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `nbytes` bytes aligned for any element and vector load; OutOfMemoryError when there are none.
  virtual void* allocate(size_t nbytes) = 0;
  // Frees what `allocate(nbytes)` returned.  Never throws.
  virtual void deallocate(void* data, size_t nbytes) noexcept = 0;
  virtual Device device() const = 0;
  // Notes that work of the calling thread's current stream uses the block.
  virtual void used(void* /*data*/) {}
  // Whether it is page-locked host memory, which devices copy from and to without staging.
  virtual bool pinned() const { return false; }
  // OutOfMemoryError if a block of so many bytes cannot be allocated at present; keeps no memory.
  virtual void ask(size_t nbytes) { deallocate(allocate(nbytes), nbytes); }
  // Storages are allocated at the first access to their bytes.  A storage of more bytes than this calls ask() when it
  // is made, so that the call that makes it gets the error.
  size_t asks_beyond() const { return asks_beyond_; }

 protected:
  size_t asks_beyond_ = SIZE_MAX;
};

}  // namespace argand
