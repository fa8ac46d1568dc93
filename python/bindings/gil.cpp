#include "bindings/gil.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "bindings/interpreter_end.h"
#include "bindings/object.h"

extern "C" int PyGILState_Check(void);  // in every interpreter, but not in the headers of the stable ABI

namespace argand::python {

void wait_for_the_end() noexcept {
  for (;;) pause();
}

namespace {

thread_local int depth = 0;         // of the scopes of this thread
thread_local bool may_end = false;  // the thread that ends the interpreter
std::atomic<int> threads_inside{0};
std::atomic<bool> ends{false};

void enter() noexcept {
  if (++depth > 1) return;
  threads_inside.fetch_add(1);
  if (!ends.load() || may_end) return;
  threads_inside.fetch_sub(1);
  wait_for_the_end();
}
void leave() noexcept {
  if (--depth == 0) threads_inside.fetch_sub(1);
}

// The wait is bounded, as a hook may itself wait for something that the calling thread holds.
void begin_to_end() {
  constexpr auto kPatience = std::chrono::seconds(2);
  may_end = true;
  ends.store(true);
  const NoGil no_gil;
  const int mine = depth > 0 ? 1 : 0;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (threads_inside.load() > mine && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void add_interpreter_end(nb::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { threads_inside.store(depth > 0 ? 1 : 0); });
  module.def("_begin_to_end", begin_to_end);
  nb::module_::import_("atexit").attr("register")(module.attr("_begin_to_end"));
}

Gil::Gil() noexcept {
  enter();
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

// If the thread does not hold the lock here, it is being unwound: Python code had released the lock for a moment.
Gil::~Gil() {
  if (!PyGILState_Check()) wait_for_the_end();
  PyGILState_Release(state_);
  leave();
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
