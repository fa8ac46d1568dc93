// A call without memory for its result fails alone: what waited before it still waits, and is still found.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "argand/base/error.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

// While it lives the process gets no more than `nbytes` of memory beyond what it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t nbytes) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<size_t>(getpagesize()) + nbytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(WindowOutOfMemory, WhatWaitedBeforeStillDoes) {
#if defined(ARGAND_SANITIZED)
  GTEST_SKIP() << "a sanitizer ends the process that asks for too much memory";
#endif
  exec::set_window_mode(exec::WindowMode::kAlways);
  const Tensor x = ones({1});
  const Tensor wide = x.expand({exec::kWindowBytes / 10});  // three results of it are too much to wait
  const Tensor first = wide + 1.0, second = wide * 2.0;
  {
    const MemoryLimit limit(size_t{32} << 20);
    EXPECT_THROW(wide * 3.0, OutOfMemoryError);
  }
  x.normal_();  // must be told that `first` and `second` have not read x yet
  EXPECT_EQ(first[0].item<float>(), 2);
  EXPECT_EQ(second[0].item<float>(), 2);
  exec::set_window_mode(exec::WindowMode::kAuto);
}

}  // namespace
}  // namespace argand
