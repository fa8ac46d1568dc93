#include "argand/runtime/process_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace argand {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> entered{false}, left{false};

// What a library notes for its globals.
void take_down() {
  if (!left) _exit(1);
  std::fputs("taken down", stderr);
}

// Ends with 3, unless what take_down() is noted for would still be in use: then with 1.  Says when that is reached.
// It is noted by this thread, which then watches, or by the other in the midst of its first call.
enum class Noted { kBefore, kWithinTheFirstCall };
[[noreturn]] void exit_while_a_thread_calls(std::chrono::milliseconds length, Noted noted) {
  if (noted == Noted::kBefore) {
    std::atexit(take_down);
    watch_process_end();
  }
  std::thread([length, noted] {
    for (bool first = true;; first = false) {
      const DeviceCalls calls;
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
    std::atexit([] { _exit(5); });  // reached unless the watch ends the process before
    const DeviceCalls calls;
    watch_process_end();
    const pid_t child = fork();
    if (child == 0) std::exit(4);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
  };
  EXPECT_EXIT(fork_in_a_call(), testing::ExitedWithCode(5), "");
}
TEST_F(ProcessEnd, EndsAtOnceIfTheyTakeLong) {
  EXPECT_EXIT(exit_while_a_thread_calls(1h, Noted::kBefore), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace argand
