#include "argand/runtime/cuda/process_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace argand::cuda {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> entered{false}, left{false};

// Ends with 3, unless what is taken down after the watch would still be in use: then with 1.
[[noreturn]] void exit_while_a_thread_calls(std::chrono::milliseconds length) {
  std::atexit([] {
    if (!left) _exit(1);
  });
  watch_process_end();
  std::thread([length] {
    for (;;) {
      const DeviceCalls calls;
      entered = true;
      left = false;
      std::this_thread::sleep_for(length);
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
  EXPECT_EXIT(exit_while_a_thread_calls(200ms), testing::ExitedWithCode(3), "");
}
TEST_F(ProcessEnd, EndsAtOnceIfTheyTakeLong) {
  EXPECT_EXIT(exit_while_a_thread_calls(1h), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace argand::cuda
