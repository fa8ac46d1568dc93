#include "tools/argand/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace argand::cli {
namespace {

// Runs `body` in a child process whose standard error goes nowhere; its exit code, or 1000 + the signal that ended it.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(StopOnSignal, FirstRaisesAFlag) {
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_EQ(in_child([&] {
                const StopOnSignal stop;
                if (StopOnSignal::requested()) return 1;
                ::raise(number);
                return StopOnSignal::requested() && StopOnSignal::signal() == number ? 42 : 2;
              }),
              42);
  }
}

TEST(StopOnSignal, SecondEndsAtOnce) {
  EXPECT_EQ(in_child([] {
              const StopOnSignal stop;
              ::raise(SIGINT);
              ::raise(SIGTERM);
              return 1;
            }),
            128 + SIGTERM);
}

TEST(StopOnSignal, GivesTheSignalsBack) {
  EXPECT_EQ(in_child([] {
              { const StopOnSignal stop; }
              ::raise(SIGTERM);
              return 1;
            }),
            1000 + SIGTERM);
}

TEST(StopOnSignal, WhatWasIgnoredStaysIgnored) {
  EXPECT_EQ(in_child([] {
              ::signal(SIGINT, SIG_IGN);
              const StopOnSignal stop;
              ::raise(SIGINT);
              return StopOnSignal::requested() ? 1 : 42;
            }),
            42);
}

TEST(StopOnSignal, FileSizeLimitAndClosedPipeAreNoDeath) {
  for (const int number : {SIGXFSZ, SIGPIPE}) {
    EXPECT_EQ(in_child([&] {
                const StopOnSignal stop;
                ::raise(number);
                return 42;
              }),
              42);
    EXPECT_EQ(in_child([&] {
                { const StopOnSignal stop; }
                ::raise(number);
                return 1;
              }),
              1000 + number);
  }
}

}  // namespace
}  // namespace argand::cli
