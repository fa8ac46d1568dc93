// Allocators whose limit may change while the program runs.
#pragma once
#include "argand/core/allocator.h"

namespace argand {

// Storages of more than capacity() bytes ask when they are made, so that the error is their maker's and not that of who
// looks at them first.
class LimitedAllocator : public Allocator {
 public:
  // OutOfMemoryError if so many bytes cannot be had as things are now; takes nothing.  Thread-safe.
  virtual void ask(size_t nbytes) = 0;
};

}  // namespace argand
