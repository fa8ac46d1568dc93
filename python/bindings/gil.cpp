#include "bindings/gil.h"

#include <cxxabi.h>
#include <unistd.h>

#include "bindings/object.h"

extern "C" int PyGILState_Check(void);  // in every interpreter, but not in the headers of the stable ABI

namespace argand::python {

void wait_for_the_end() noexcept {
  for (;;) pause();
}

Gil::Gil() noexcept {
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

// Without the lock the thread is being unwound: Python's code had given it away for a moment.
Gil::~Gil() {
  if (!PyGILState_Check()) wait_for_the_end();
  PyGILState_Release(state_);
}

NoGil::~NoGil() {
  try {
    PyEval_RestoreThread(state_);
    --threads_;
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

}  // namespace argand::python
