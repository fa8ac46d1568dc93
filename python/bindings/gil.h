// Takes the interpreter's lock in threads that do not hold it, also while the interpreter ends.
//
// Note [Threads of an interpreter that ends]
// An interpreter that ends stops other threads when they ask for its lock, by unwinding their stacks (until
// Python 3.13).  If that passes through noexcept functions or handlers that catch all exceptions, the process aborts.
// So such a thread sleeps until the process is gone: where it asks for the lock (Gil, NoGil), where Python code that
// C++ called has lost the lock (~Gil), and where the unwinding would be turned into an error (set_error).
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

// Sleeps until the process is gone; for a thread that is being unwound.
[[noreturn]] void wait_for_the_end() noexcept;

}  // namespace argand::python
