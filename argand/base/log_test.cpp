#include "argand/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "argand/base/error.h"

namespace argand {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = set_warning_handler([this](std::string_view message) {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(message);
    });
  }
  void TearDown() override { set_warning_handler(before_); }

  std::mutex mutex_;
  std::vector<std::string> messages_;
  WarningFunction before_;
};

TEST_F(LogTest, PartsAreJoined) {
  warn("op: ", 3, " of ", 4.5);
  EXPECT_EQ(messages_, std::vector<std::string>{"op: 3 of 4.5"});
}

TEST_F(LogTest, OnceAPlace) {
  int evaluated = 0;
  for (int i = 0; i < 5; ++i) ARGAND_WARN_ONCE("first place ", ++evaluated);
  ARGAND_WARN_ONCE("second place");
  EXPECT_EQ(messages_, (std::vector<std::string>{"first place 1", "second place"}));
}

TEST_F(LogTest, OnceAcrossThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        ARGAND_WARN_ONCE("once");
        warn("often");
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(std::count(messages_.begin(), messages_.end(), "once"), 1);
  EXPECT_EQ(std::count(messages_.begin(), messages_.end(), "often"), 800);
}

TEST_F(LogTest, HandlerMayReplaceItselfAndThrow) {
  set_warning_handler([](std::string_view message) {
    set_warning_handler([](std::string_view) {});
    ARGAND_THROW(ValueError, "warning as error: ", message);
  });
  EXPECT_THROW(warn("x"), ValueError);
  EXPECT_NO_THROW(warn("y"));
}

TEST_F(LogTest, DefaultPrintsToStandardError) {
  set_warning_handler(nullptr);
  testing::internal::CaptureStderr();
  warn("plain ", 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: plain 1\n");
}

TEST_F(LogTest, ReturnsTheHandlerBefore) {
  WarningFunction mine = set_warning_handler(nullptr);
  ASSERT_TRUE(mine);
  mine("direct");
  EXPECT_EQ(messages_, std::vector<std::string>{"direct"});
  EXPECT_FALSE(set_warning_handler(nullptr));
}

}  // namespace
}  // namespace argand
