// Mutexes for processes that fork.
//
// fork() copies a mutex that another thread holds at that moment, and nobody in the child would ever release it.
//
//   ProcessMutex   of something that the whole process has one of, as a cache or a registry.  fork() waits for whoever
//                  holds it, so the child finds what it guards as a thread left it.
//   ObjectLock     locks the mutex of one of many objects.  fork() does not wait; the child finds free what other
//   threads
//                  of its parent held, and what it guards as it was at that moment.
//
// LockStripes (argand/base/lock_stripes.h) are for objects that are too many to have a mutex each.
//
// Note [Locks and forks]
// fork() takes the mutexes of the handlers that were registered last first, and all of ProcessMutex after those.  So
// who holds a ProcessMutex takes no other lock that a fork waits for: he allocates no tensor, frees none, calls no op,
// no function of the program's, and nothing that loads a library.  The C library's allocator is fine.  A static local
// that is made while a ProcessMutex is held is whole in a child, or not begun; otherwise a child that was made
// meanwhile waits for ever for the thread that was making it.
#pragma once
#include <atomic>
#include <mutex>

#include "argand/base/shared.h"

namespace argand {

// Lives as long as the process, as a variable of a namespace or a static local.  Neither its construction nor its end
// runs any code, so it can be used at any time.
class ARGAND_SHARED ProcessMutex {
 public:
  constexpr ProcessMutex() = default;
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  void lock() {
    if (!known_.load(std::memory_order_acquire)) make_known();
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  friend class Forks;
  void make_known();

  std::mutex mutex_;
  std::atomic<bool> known_{false};
  ProcessMutex* next_ = nullptr;  // of all that are known to fork()
};

// As std::lock_guard.  The thread that forks keeps what it holds, in the parent and in the child.
class ARGAND_SHARED ObjectLock {
 public:
  explicit ObjectLock(std::mutex& mutex);
  ~ObjectLock();
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  friend class Forks;
  std::mutex& mutex_;
  std::atomic<ObjectLock*>* mine_;  // the thread's innermost
  ObjectLock* outer_;
};

}  // namespace argand
