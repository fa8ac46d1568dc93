// An allocator for containers that takes memory for small objects (small_object.h).
#pragma once
#include <vector>

#include "argand/base/small_object.h"

namespace argand {

template <class T>
struct SmallAllocator {
  using value_type = T;
  SmallAllocator() = default;
  template <class U>
  SmallAllocator(const SmallAllocator<U>&) {}
  // NOLINTBEGIN(bugprone-sizeof-expression): T may be a pointer
  T* allocate(size_t n) { return static_cast<T*>(allocate_small(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { free_small(p, n * sizeof(T)); }
  // NOLINTEND(bugprone-sizeof-expression)
  friend bool operator==(const SmallAllocator&, const SmallAllocator&) { return true; }
};

// A vector that is mostly short and often made and freed.
template <class T>
using ShortVector = std::vector<T, SmallAllocator<T>>;

}  // namespace argand
