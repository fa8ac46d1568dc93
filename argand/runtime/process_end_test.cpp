#include "argand/runtime/process_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "argand/base/error.h"

namespace argand {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> entered{false}, left{false};

// The exit handler that a library registers for its globals.
void take_down() {
  if (!left) _exit(1);
  std::fputs("taken down", stderr);
}

// Ends with 3, unless what take_down() is noted for would still be in use: then with 1.  Says when that is reached.
// It is registered by this thread, or by the other one during its first call.
enum class Noted { kBefore, kWithinTheFirstCall };
void start_a_thread_that_calls(std::chrono::milliseconds length, Noted noted) {
  if (noted == Noted::kBefore) {
    const CallsThatMakeGlobals calls;
    std::atexit(take_down);
  }
  std::thread([length, noted] {
    for (bool first = true;; first = false) {
      const CallsThatMakeGlobals calls;
      left = false;
      if (first && noted == Noted::kWithinTheFirstCall) std::atexit(take_down);
      entered = true;
      for (int i = 0; i < 2; ++i) {
        const DeviceCalls within;
        stop_if_process_ends();  // not within calls
        std::this_thread::sleep_for(length);
      }
      left = true;
    }
  }).detach();
  while (!entered) std::this_thread::sleep_for(1ms);
}
[[noreturn]] void exit_while_a_thread_calls(std::chrono::milliseconds length, Noted noted) {
  start_a_thread_that_calls(length, noted);
  std::exit(3);
}
void exit_in_a_thread_while_another_calls() {
  std::thread([] {
    { const DeviceCalls used_before; }
    start_a_thread_that_calls(200ms, Noted::kWithinTheFirstCall);
    std::exit(3);
  }).join();
}
void exit_in_a_call() {
  const DeviceCalls calls;
  const DeviceCalls within;
  std::exit(3);
}

// A static object of the program.  Its destructor waits for a thread that makes device calls until one fails.
struct Worker {
  std::thread thread;
  ~Worker() {
    thread.join();
    std::fputs("joined", stderr);
  }
};
void exit_with_a_worker() {
  static Worker worker;
  worker.thread = std::thread([] {
    try {
      for (;;) {
        const DeviceCalls calls;
        entered = true;
      }
    } catch (const DeviceError& e) {
      std::fputs(e.what(), stderr);
      const DeviceCalls as_in_a_destructor(std::nothrow);
    }
  });
  while (!entered) std::this_thread::sleep_for(1ms);
  std::exit(3);
}

class ProcessEnd : public testing::Test {
 protected:
  ProcessEnd() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProcessEnd, WaitsForCallsOfOtherThreads) {
  EXPECT_EXIT(exit_while_a_thread_calls(200ms, Noted::kBefore), testing::ExitedWithCode(3), "taken down");
}
TEST_F(ProcessEnd, WaitsForAFirstCallThatNotesGlobals) {
  EXPECT_EXIT(exit_while_a_thread_calls(200ms, Noted::kWithinTheFirstCall), testing::ExitedWithCode(3), "taken down");
}
TEST_F(ProcessEnd, AForkedChildDoesNotWaitForThreadsItHasNot) {
  const auto fork_in_a_call = [] {
    alarm(20);
    const CallsThatMakeGlobals calls;
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // the end must not wait for its parent's calls
      std::thread([] { std::exit(4); }).join();
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  };
  EXPECT_EXIT(fork_in_a_call(), testing::ExitedWithCode(4), "");
}
TEST_F(ProcessEnd, SaysThatItWaitsForLongCalls) {
  EXPECT_EXIT(exit_while_a_thread_calls(2s, Noted::kBefore), testing::ExitedWithCode(3),
              "ends as soon as 1 other thread.*\n.*taken down");
}
TEST_F(ProcessEnd, WaitsForAFirstCallIfAnotherThreadExits) {
  EXPECT_EXIT(exit_in_a_thread_while_another_calls(), testing::ExitedWithCode(3), "taken down");
}
TEST_F(ProcessEnd, DoesNotWaitForItself) { EXPECT_EXIT(exit_in_a_call(), testing::ExitedWithCode(3), ""); }
TEST_F(ProcessEnd, AThreadThatIsJoinedAtTheEndFails) {
  EXPECT_EXIT(exit_with_a_worker(), testing::ExitedWithCode(3), "the process is ending.*joined");
}

}  // namespace
}  // namespace argand
