// Memory of small objects that are made and freed often: what handles point to, nodes of graphs.
//
// A thread keeps what it frees, up to a limit, for its next allocations: no lock and no search.  Under the address and
// thread sanitizers this is the ordinary heap, so that they see every object.
#pragma once
#include <cstddef>

namespace argand {

void* allocate_small(size_t nbytes);
void free_small(void* p, size_t nbytes) noexcept;  // `nbytes`: the size that was asked for

// A base class: objects of derived classes use this memory.
class SmallObject {
 public:
  static void* operator new(size_t nbytes) { return allocate_small(nbytes); }
  static void operator delete(void* p, size_t nbytes) noexcept { free_small(p, nbytes); }
};

}  // namespace argand
