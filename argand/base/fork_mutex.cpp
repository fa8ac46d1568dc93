#include "argand/base/fork_mutex.h"

#include <pthread.h>

#include <new>
#include <utility>

namespace argand {
namespace {

// The locks of a thread, the innermost first.  Never freed, but reused, so that a child can read those of all threads.
struct Held {
  std::atomic<ObjectLock*> innermost{nullptr};
  Held* next = nullptr;       // of all
  Held* next_idle = nullptr;  // of those without a thread
};

constinit std::mutex all_mutex;  // guards what follows, and is held while the process forks
constinit ProcessMutex* first_mutex = nullptr;
constinit Held* first_held = nullptr;
constinit Held* first_idle = nullptr;

// Without a destructor, because tensors may be freed at any time while a thread ends.
thread_local constinit Held* held_here __attribute__((tls_model("initial-exec"))) = nullptr;

struct GiveBack {
  ~GiveBack() {
    if (!held_here || held_here->innermost.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(all_mutex);
    held_here->next_idle = std::exchange(first_idle, held_here);
    held_here = nullptr;
  }
};

Held& join() {
  static thread_local GiveBack at_end;
  (void)&at_end;
  const std::lock_guard lock(all_mutex);
  if (first_idle) {
    held_here = first_idle;
    first_idle = held_here->next_idle;
  } else {
    held_here = new Held;
    held_here->next = std::exchange(first_held, held_here);
  }
  return *held_here;
}

}  // namespace

class Forks {
 public:
  static void watch() { pthread_atfork(&before, &after_in_parent, &after_in_child); }
  static void add(ProcessMutex& mutex) {
    const std::lock_guard lock(all_mutex);
    if (mutex.known_.load(std::memory_order_relaxed)) return;
    mutex.next_ = std::exchange(first_mutex, &mutex);
    mutex.known_.store(true, std::memory_order_release);
  }

 private:
  static void before() {
    all_mutex.lock();
    for (ProcessMutex* m = first_mutex; m; m = m->next_) m->mutex_.lock();
  }
  static void after_in_parent() {
    for (ProcessMutex* m = first_mutex; m; m = m->next_) m->mutex_.unlock();
    all_mutex.unlock();
  }
  static bool is_held_here(const std::mutex& mutex) {
    if (!held_here) return false;
    for (const ObjectLock* l = held_here->innermost.load(std::memory_order_relaxed); l; l = l->outer_)
      if (&l->mutex_ == &mutex) return true;
    return false;
  }
  // The stacks of the parent's other threads can still be read.
  static void after_in_child() {
    for (Held* held = first_held; held; held = held->next) {
      if (held == held_here) continue;
      for (ObjectLock* l = held->innermost.exchange(nullptr, std::memory_order_relaxed); l; l = l->outer_)
        if (!is_held_here(l->mutex_)) new (&l->mutex_) std::mutex;
    }
    after_in_parent();
  }
};

namespace {
// Registered while the library is loaded, so before most other handlers: a fork then calls those before these.
[[maybe_unused]] const bool watching = (Forks::watch(), true);
}  // namespace

void ProcessMutex::make_known() { Forks::add(*this); }

ObjectLock::ObjectLock(std::mutex& mutex) : mutex_(mutex) {
  Held& held = held_here ? *held_here : join();
  mine_ = &held.innermost;
  outer_ = mine_->load(std::memory_order_relaxed);
  // If the child finds the mutex locked, it finds it noted here, too.
  mine_->store(this, std::memory_order_release);
#ifndef __SANITIZE_THREAD__  // which does not know fences, and orders what it watches by the mutex
  std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
  mutex.lock();
}

ObjectLock::~ObjectLock() {
  mutex_.unlock();
  mine_->store(outer_, std::memory_order_release);
}

}  // namespace argand
