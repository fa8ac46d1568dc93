// The interpreter's lock for threads that do not hold it, and the threads that it outlives.
//
// Note [Threads of an interpreter that ends]
// An interpreter that ends stops other threads when they ask for its lock, by unwinding their stacks (until
// Python 3.13). That must not run through code that knows nothing of it, as functions that do not throw, or that catch
// all: the process would abort.  Such a thread sleeps instead until the process is gone: where the lock is asked for
// (Gil, NoGil), where Python's code that C++ called has lost it (~Gil), and where an error would be made of it
// (set_error).
#pragma once
#include <nanobind/nanobind.h>

namespace argand::python {

// Holds the lock for a scope.
class Gil {
 public:
  Gil() noexcept;
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

// What an unwound thread does.
[[noreturn]] void wait_for_the_end() noexcept;

}  // namespace argand::python
