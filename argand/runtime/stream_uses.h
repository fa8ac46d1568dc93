// Uses of memory on side streams that the stream which owns it waits for.
//
// Note [Joined uses]
// A block of memory belongs to the stream it was allocated on.  Once another stream has used it, it is given out again
// only when that stream is done, which the host finds out later or sooner: from then on addresses differ from step to
// step, and windows of launches with calls of libraries are not like any that a graph was made of.  Where the owner's
// stream already waits for the other one, the block can be given out at once.  Events alone do not say so, as a use is
// noted before its work is on the stream, and another thread may record an event in between.  So whoever has a side
// stream of its own says it: mark(), while no thread is putting work on the side stream; then an event is recorded
// there; and joined(), after the owner's stream was made to wait for the event.
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
