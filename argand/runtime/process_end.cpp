#include "argand/runtime/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace argand {
namespace {

using namespace std::chrono_literals;

// How long exit() waits for calls, and then for those too short to be counted.
constexpr auto kCountedCalls = 1s;
constexpr auto kOtherCalls = 2ms;
// The ending thread may wait for this one, in a destructor of its program that joins it: then this one has to fail.
constexpr auto kPatience = 5s;

constinit std::atomic<int> calls{0};      // threads in calls
constinit std::atomic<pid_t> process{0};  // that made the first of them
thread_local int depth = 0;               // of this thread's calls within calls
constinit std::atomic<bool> ends{false};
pthread_t ending_thread;  // written before `ends`

void note_end(int status, void*) {
  // The threads that a forked child counts in `calls` are its parent's.
  if (process.load() != getpid() || ends.load()) return;
  ending_thread = pthread_self();
  ends.store(true);
  const auto limit = std::chrono::steady_clock::now() + kCountedCalls;
  do {
    if (std::chrono::steady_clock::now() > limit) {
      std::fflush(nullptr);
      _exit(status);
    }
    std::this_thread::sleep_for(kOtherCalls);
  } while (calls.load() > 0);
  std::this_thread::sleep_for(kOtherCalls);
}

// Note [The end comes here first]
// exit() calls what was noted last first, and libraries note their globals in the midst of their first calls, which
// another thread may be in when exit() is called.  But before all that exit() destroys the thread_local objects of its
// thread: in the main thread that is the moment to be noted last.  (Main ends no other way: pthread_exit() does not
// destroy them there.)  exit() in another thread relies on watch_process_end() after each first call.
struct LastWord {
  ~LastWord() { watch_process_end(); }
};

[[maybe_unused]] const bool in_main_thread = [] {
  if (gettid() != getpid()) return false;
  static thread_local LastWord word;
  return true;
}();

}  // namespace

void watch_process_end() { on_exit(note_end, nullptr); }

void stop_if_process_ends() {
  if (!ends.load() || depth > 0 || pthread_equal(ending_thread, pthread_self())) return;
  thread_local bool waited = false;
  if (!waited) std::this_thread::sleep_for(kPatience);
  waited = true;
}

DeviceCalls::DeviceCalls() {
  if (depth == 0) {
    if (process.load(std::memory_order_relaxed) == 0) process.store(getpid());
    ++calls;
    if (ends.load()) {
      --calls;  // not to be waited for
      stop_if_process_ends();
      ++calls;
    }
  }
  ++depth;
}
DeviceCalls::~DeviceCalls() {
  if (--depth == 0) --calls;
}

}  // namespace argand
