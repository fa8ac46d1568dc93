// A few locks for many objects that are seldom locked: each object has one of them, by its address.
//
// fork() copies a lock that another thread holds at that moment, and nobody in the child would ever release it.  So the
// child makes all of them anew.  This is sound where the state that a lock guards can be used whenever the work under
// the lock stops, or where no child touches an object that another thread of the parent was just changing.
#pragma once
#include <array>
#include <cstddef>
#include <mutex>

namespace argand {

// Made once and never destroyed, as a static: the child of a fork() knows all there are.
class LockStripes {
 public:
  LockStripes();
  LockStripes(const LockStripes&) = delete;
  LockStripes& operator=(const LockStripes&) = delete;

  template <class T>
  std::mutex& of(const T* object) {
    return locks_[reinterpret_cast<size_t>(object) / sizeof(T) % locks_.size()];
  }

 private:
  std::array<std::mutex, 64> locks_;
};

}  // namespace argand
