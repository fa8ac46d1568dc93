// A few locks for many objects that are seldom locked: each object has one of them, by its address.
//
// fork() copies a lock that another thread holds at that moment, and nobody in the child would ever release it.  So the
// child initialises all of them again.  This is sound if the guarded state is usable wherever the work under the lock
// stops, or if no child touches an object that another thread of the parent was changing.
#pragma once
#include <array>
#include <cstddef>
#include <mutex>

namespace argand {

// Make it as a static object, which is never destroyed: the child of a fork() knows all of them.
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
