// Memory of small objects that come and go by the thousand: what handles point to, nodes of graphs.
//
// What a thread frees it keeps, up to a limit, for what it makes next: no lock and no search.  Under the address and
// thread sanitizers this is the ordinary heap, so that they see every object.
#pragma once
#include <cstddef>

namespace argand {

void* allocate_small(size_t nbytes);
void free_small(void* p, size_t nbytes) noexcept;  // `nbytes` as they were asked for

// A base of classes whose objects live there.
class SmallObject {
 public:
  static void* operator new(size_t nbytes) { return allocate_small(nbytes); }
  static void operator delete(void* p, size_t nbytes) noexcept { free_small(p, nbytes); }
};

}  // namespace argand
