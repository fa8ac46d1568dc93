#include "argand/base/lock_stripes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace argand {
namespace {

TEST(LockStripes, AnObjectHasOneLock) {
  static LockStripes& stripes = *new LockStripes;
  const int objects[1000] = {};
  EXPECT_EQ(&stripes.of(&objects[7]), &stripes.of(&objects[7]));
  EXPECT_NE(&stripes.of(&objects[7]), &stripes.of(&objects[8]));
}

TEST(LockStripes, AChildCanTakeWhatAnotherThreadHeld) {
  static LockStripes& stripes = *new LockStripes;
  static const int object = 0;
  std::promise<void> held, forked;
  std::thread holder([&] {
    const std::lock_guard lock(stripes.of(&object));
    held.set_value();
    forked.get_future().wait();
  });
  held.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // instead of waiting for ever
    const std::lock_guard lock(stripes.of(&object));
    _exit(0);
  }
  forked.set_value();
  holder.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace argand
