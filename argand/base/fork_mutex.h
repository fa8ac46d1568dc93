// Mutexes for processes that fork.
//
// fork() copies a mutex that another thread holds at that moment, and nobody in the child would ever release it.
//
//   ProcessMutex   for state that the process has once, such as a cache or a registry.  fork() waits until no thread
//                  holds it, so the child finds the guarded state as a thread left it.
//   ObjectLock     locks the mutex of one of many objects.  fork() does not wait.  In the child, mutexes that other
//                  threads of the parent held are free, and the guarded state is as it was at the fork.
//
// LockStripes (argand/base/lock_stripes.h) are for objects that are too many to have a mutex each.
//
// Note [Locks and forks]
// fork() takes the mutexes of its handlers, those registered last first, and then every ProcessMutex.  So code that
// holds a ProcessMutex must take no other lock that a fork waits for: it must not allocate or free a tensor, call an op
// or a function of the user's program, or load a library.  The C library's allocator is fine.  Initialise a static
// local that a child may need while a ProcessMutex is held: the child then finds it complete or not begun.  Otherwise a
// child forked during the initialisation waits for ever for the thread that was doing it.
#pragma once
#include <atomic>
#include <mutex>

#include "argand/base/shared.h"

namespace argand {

// Lives as long as the process, as a namespace-scope variable or a static local.  Construction and destruction run no
// code, so it can be used at any time.
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
  ProcessMutex* next_ = nullptr;  // in the list that fork() locks
};

// Locks a mutex for a scope, as std::lock_guard does.  The thread that forks keeps its locks in parent and child.
class ARGAND_SHARED ObjectLock {
 public:
  explicit ObjectLock(std::mutex& mutex);
  ~ObjectLock();
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  friend class Forks;
  std::mutex& mutex_;
  std::atomic<ObjectLock*>* mine_;  // the innermost lock of the thread
  ObjectLock* outer_;
};

}  // namespace argand
