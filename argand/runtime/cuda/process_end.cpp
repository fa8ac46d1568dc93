#include "argand/runtime/cuda/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "argand/runtime/cuda/fork.h"

namespace argand::cuda {
namespace {

using namespace std::chrono_literals;

// How long exit() waits for calls, and then for those too short to be counted.
constexpr auto kCountedCalls = 1s;
constexpr auto kOtherCalls = 2ms;
// The ending thread may wait for this one, in a destructor of its program that joins it: then this one has to fail.
constexpr auto kPatience = 5s;

constinit std::atomic<int> calls{0};  // threads in calls
thread_local int depth = 0;           // of this thread's calls within calls
constinit std::atomic<bool> ends{false};
pthread_t ending_thread;  // written before `ends`

void note_end(int status, void*) {
  if (ends.load() || in_forked_child()) return;  // the threads of `calls` are the parent's
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

}  // namespace argand::cuda
