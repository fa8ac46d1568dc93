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
  // Takes back what `allocate(nbytes)` gave.  Never throws.
  virtual void deallocate(void* data, size_t nbytes) noexcept = 0;
  virtual Device device() const = 0;
  // Work of the calling thread's current stream uses the block.
  virtual void used(void* /*data*/) {}
  // Host memory that devices copy from and to without staging.
  virtual bool pinned() const { return false; }
  // No block of more bytes can ever be had: a storage that wants one asks at once, so that the error is its maker's.
  size_t capacity() const { return capacity_; }

 protected:
  size_t capacity_ = SIZE_MAX;
};

}  // namespace argand
