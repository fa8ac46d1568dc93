// A call without memory for its result fails alone: what waited before it still waits, and is still found.
#include <gtest/gtest.h>

#include "argand/base/error.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

TEST(WindowOutOfMemory, WhatWaitedBeforeStillDoes) {
#if defined(ARGAND_SANITIZED)
  GTEST_SKIP() << "a sanitizer ends the process that asks for too much memory";
#endif
  exec::set_window_mode(exec::WindowMode::kAlways);
  const Tensor x = ones({4});
  const Tensor before = x + 1.0;
  const Tensor wide = x.unsqueeze(1).expand({4, int64_t{1} << 50});  // whose sum with a number fits no memory
  EXPECT_THROW(wide + 1.0, OutOfMemoryError);
  x.normal_();  // is told that `before` has not read x yet
  EXPECT_TRUE(before.equal(full({4}, 2.0)));
  exec::set_window_mode(exec::WindowMode::kAuto);
}

}  // namespace
}  // namespace argand
