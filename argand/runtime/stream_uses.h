// Uses of memory on side streams for which the stream that owns the memory waits.
//
// Note [Joined uses]
// A block of memory belongs to the stream on which it was allocated.  If another stream has used it, it is reused only
// after that stream is done, which the host notices at varying times.  Then addresses differ from step to step, and
// windows of launches with library calls do not match any known graph.  If the owner's stream already waits for the
// other one, the block can be reused at once.  Events alone do not show this: a use is noted before its work is on the
// stream, and another thread may record an event in between.  So the code that has a side stream tells the allocator:
// it calls mark() while no thread puts work on the side stream, records an event there, makes the owner's stream wait
// for the event, and calls joined().
#pragma once
#include <atomic>
#include <cstdint>

#include "argand/base/shared.h"
#include "argand/runtime/backend.h"

namespace argand {

struct StreamUses {
  uint64_t (*mark)(const StreamRef& side);
  void (*joined)(const StreamRef& owner, const StreamRef& side, uint64_t mark) noexcept;
  // The functions of the GPU backend; null before it is loaded.
  static inline constinit std::atomic<const StreamUses*> of_gpus{nullptr};
};

}  // namespace argand
