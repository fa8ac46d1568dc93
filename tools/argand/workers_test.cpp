#include "tools/argand/workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "argand/base/error.h"

namespace argand::cli {
namespace {

int run_shell(const std::string& script, int count) { return run_workers({"/bin/sh", "-c", script}, count); }

class WorkersTest : public ::testing::Test {
 protected:
  WorkersTest() : folder_(std::filesystem::temp_directory_path() / ("workers_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    ::setenv("WORKERS_TEST", folder_.c_str(), 1);
  }
  ~WorkersTest() override { std::filesystem::remove_all(folder_); }
  std::string text(const std::string& file) const {
    std::ifstream in(folder_ / file);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }

 private:
  const std::filesystem::path folder_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

TEST_F(WorkersTest, EachKnowsItsPlace) {
  ASSERT_EQ(
      run_shell("echo $RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $TORCHELASTIC_USE_AGENT_STORE > $WORKERS_TEST/$RANK; "
                "test $MASTER_PORT -gt 0 && test ${#ARGAND_STORE_SECRET} -ge 32 && test $OMP_NUM_THREADS -ge 1",
                3),
      0);
  for (const char* rank : {"0", "1", "2"})
    EXPECT_EQ(text(rank), std::string(rank) + " " + rank + " 3 127.0.0.1 True\n");
}

TEST_F(WorkersTest, AFailureEndsTheOthers) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_shell("if [ $RANK = 1 ]; then exit 7; fi; exec sleep 60", 3), 7);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "argand: worker 1 ended with exit status 7; ending the others\n");
  EXPECT_LT(seconds(), 9);
}

TEST_F(WorkersTest, AWorkerThatIsKilled) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_shell("if [ $RANK = 0 ]; then kill -9 $$; fi; exec sleep 60", 2), 128 + SIGKILL);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "argand: worker 0 ended by signal 9; ending the others\n");
}

TEST_F(WorkersTest, WhoDoesNotStopIsKilled) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_shell("if [ $RANK = 1 ]; then sleep 0.3; exit 3; fi; trap '' TERM; while :; do sleep 0.1; done", 2), 3);
  ::testing::internal::GetCapturedStderr();
  EXPECT_GT(seconds(), 9);
  EXPECT_LT(seconds(), 20);
}

TEST_F(WorkersTest, SignalsArePassedOnOnce) {
  ::testing::internal::CaptureStderr();
  // Blocked here, and in the thread that asks, so that none of them takes it.
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  std::thread asking([this] {
    while (text("0").empty() || text("1").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(::getpid(), SIGTERM);
  });
  const std::string script =
      "trap 'echo asked >> $WORKERS_TEST/$RANK; sleep 0.$RANK; exit 143' TERM; echo ready > $WORKERS_TEST/$RANK; "
      "while :; do sleep 0.05; done";
  const int status = run_shell(script, 2);
  asking.join();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(status, 143);
  EXPECT_EQ(text("0"), "ready\nasked\n");
  EXPECT_EQ(text("1"), "ready\nasked\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(WorkersForGpus, WhatItRefuses) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      workers_for_gpus(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  for (const char* text : {"0", "-1", "x", "2x", ""})
    EXPECT_EQ(error_of(text), std::string("--gpus: expected all or a number from 1, got ") + text);
  EXPECT_EQ(error_of("100000").rfind("--gpus 100000: ", 0), 0u) << error_of("100000");
}

}  // namespace
}  // namespace argand::cli
