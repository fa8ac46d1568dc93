#include "argand/runtime/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "argand/base/error.h"

namespace argand {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = 2ms;      // also the length of calls too short to be counted
constexpr auto kUntilSaid = 3s;  // that exit() waits
constexpr auto kPatience = 5s;   // of a thread that waits for the end

constinit std::atomic<int> calls{0};           // threads in calls
constinit std::atomic<int> making_globals{0};  // of them, those that may make globals
constinit std::atomic<pid_t> process{0};       // that made the first of the calls
constinit thread_local int depth = 0;          // of this thread's calls within calls
enum class Phase { kRunning, kWaiting, kEnding };
constinit std::atomic<Phase> phase{Phase::kRunning};
pthread_t ending_thread;  // written before `phase`

void wait_for_calls() {
  const int own = depth > 0 ? 1 : 0;  // exit() was called in a call
  const auto start = Clock::now();
  for (bool said = false; calls.load() > own; std::this_thread::sleep_for(kPoll)) {
    if (said || Clock::now() - start < kUntilSaid) continue;
    said = true;
    std::fprintf(stderr, "argand: the process ends as soon as %d other thread(s) leave a call to the GPU's libraries\n",
                 calls.load() - own);
  }
  std::this_thread::sleep_for(kPoll);
}

void note_end(int, void*) {
  // In a forked child, the threads counted in `calls` are the parent's.
  if (process.load() != getpid() || phase.load() != Phase::kRunning) return;
  ending_thread = pthread_self();
  phase.store(Phase::kWaiting);
  wait_for_calls();
  phase.store(Phase::kEnding);
}

// exit() and on_exit() share a lock, which a child forked meanwhile would find locked for ever: so fork() waits.
std::mutex& noting() {
  static std::mutex& mutex = *[] {
    pthread_atfork([] { noting().lock(); }, [] { noting().unlock(); }, [] { noting().unlock(); });
    return new std::mutex;
  }();
  return mutex;
}
void watch_process_end() {
  const std::lock_guard lock(noting());
  on_exit(note_end, nullptr);
}

// Note [The end comes here first]
// exit() calls the last registered handler first, and libraries register handlers for their globals during calls, which
// another thread may be making when exit() is called.  But first exit() destroys the thread_local objects of its
// thread: this is the moment to register a handler that will be the last registered.  A thread has such an object from
// its first call on, and the main thread from the loading of this library on, if it is the thread that loads it.  Other
// threads also end without exit(), and a registered handler stays, so they register one only if a library may be making
// globals at that moment.
struct LastWord {
  ~LastWord() {
    if (gettid() == getpid() || making_globals.load() > 0) watch_process_end();
  }
};

void have_last_word() {
  static thread_local LastWord word;
  static_cast<void>(word);
}

[[maybe_unused]] const bool in_main_thread = [] {
  if (gettid() == getpid()) have_last_word();
  return true;
}();

bool must_stop() {
  return phase.load() != Phase::kRunning && depth == 0 && !pthread_equal(ending_thread, pthread_self());
}

// Returns if the process has not ended after kPatience; from then on it returns at once.
void wait_for_the_end() noexcept {
  constinit thread_local bool waited = false;
  while (!waited && phase.load() == Phase::kWaiting) std::this_thread::sleep_for(kPoll);
  if (!waited) std::this_thread::sleep_for(kPatience);
  waited = true;
}

void enter() {
  if (process.load(std::memory_order_relaxed) == 0) process.store(getpid());
  have_last_word();
  ++calls;
}

}  // namespace

void stop_if_process_ends() {
  if (!must_stop()) return;
  wait_for_the_end();
  ARGAND_THROW(DeviceError, "the process is ending: exit() was called, and the GPU's libraries are being taken down");
}

DeviceCalls::DeviceCalls() {
  if (depth == 0) {
    enter();
    if (must_stop()) {
      --calls;  // not to be waited for
      stop_if_process_ends();
    }
  }
  ++depth;
}
DeviceCalls::DeviceCalls(std::nothrow_t) noexcept {
  if (depth == 0) {
    enter();
    if (must_stop()) {
      --calls;
      wait_for_the_end();
      ++calls;
    }
  }
  ++depth;
}
DeviceCalls::~DeviceCalls() {
  if (--depth == 0) --calls;
}

CallsThatMakeGlobals::CallsThatMakeGlobals() { ++making_globals; }
CallsThatMakeGlobals::~CallsThatMakeGlobals() {
  watch_process_end();
  --making_globals;
}

}  // namespace argand
