// Note [Failures at issue time]: whichever allocation or launch fails, every tensor afterwards has the value that the
// statements which did not throw gave it, or says that it is lost.
#include <gtest/gtest.h>

#include <thread>

#include "argand/base/error.h"
#include "argand/base/log.h"
#include "argand/exec/cuda.h"
#include "argand/exec/place.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/ops/print/print.h"
#include "tests/devices/failing_program.h"
#include "tests/sim/backend.h"

namespace argand {
namespace {

using namespace argand::testing;
using namespace argand::sim;
const Device kGpu(kCUDA, 0);

class Failures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { sim::register_devices(kCUDA); }
  void TearDown() override {
    plant_failure(0);
    set_largest_block(SIZE_MAX);
    sim::take_races();
  }
};

TEST_F(Failures, NoneLeavesASilentlyWrongTensor) {
  std::vector<char> all(program().size(), true);
  Tensors before;
  plant_failure(0);
  run(before, kGpu, all);
  exec::flush();
  EXPECT_EQ(count_lost(before, all, kCPU), 0);
  const int steps = plant_failure(0);
  ASSERT_GT(steps, 10);
  int lost = 0, threw = 0;
  for (const Failing how : {Failing::kOnce, Failing::kFromThenOn})
    for (int step = 1; step <= steps; ++step) {
      SCOPED_TRACE(str("step ", step, how == Failing::kOnce ? " fails once" : " and all later ones fail"));
      Tensors tensors;
      std::vector<char> runs(program().size(), true);
      plant_failure(step, how);
      run(tensors, kGpu, runs);
      try {
        exec::flush();
      } catch (const Error&) {
      }
      plant_failure(0);
      lost += count_lost(tensors, runs, kCPU);
      for (const char r : runs) threw += !r;
      // What is lost can be written anew, and nothing remains behind.
      for (auto& [name, t] : tensors) {
        t.fill_(5);
        EXPECT_EQ(t.sum().item<float>(), 5.0F * static_cast<float>(t.numel())) << name;
      }
      EXPECT_EQ((ones({3}, TensorOptions(kFloat).device(kGpu)) * 2).sum().item<float>(), 6);
    }
  EXPECT_GT(lost, 0);  // the test would see none if nothing ever failed late
  EXPECT_GT(threw, 0);
}

TEST_F(Failures, OthersGoOnWhileOneLacksMemory) {
  const Tensor x = ones({1000}).to(kGpu), y = ones({10}).to(kGpu);
  x.sum().item<float>();
  set_largest_block(1000);
  Tensor large = x * 2, of_large = large.slice(0, 0, 10) + 1, small = y + 1;
  EXPECT_THROW(exec::flush(), OutOfMemoryError);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((small + i).sum().item<float>(), 20.0F + 10.0F * static_cast<float>(i));  // throws no more
    exec::flush();
    EXPECT_THROW(of_large.cpu(), OutOfMemoryError);
    EXPECT_THROW(large.sum(), OutOfMemoryError);
  }
  x.fill_(100);  // waits until `large` has read the ones
  y.mul_(3);
  EXPECT_EQ(y.sum().item<float>(), 30);
  EXPECT_THROW(x.cpu(), OutOfMemoryError);
  set_largest_block(SIZE_MAX);
  EXPECT_EQ(of_large.sum().item<float>(), 30);
  EXPECT_EQ(large.sum().item<float>(), 2000);
  EXPECT_EQ(x.sum().item<float>(), 100000);
}

TEST_F(Failures, WhatNobodyWantsAnyMoreIsForgotten) {
  Tensor x = ones({1000}).to(kGpu);
  const StoragePtr storage = x.storage();
  {
    set_largest_block(1000);
    const Tensor large = x * 2, larger = large + x;
    EXPECT_THROW(larger.cpu(), OutOfMemoryError);
  }
  x = Tensor();
  exec::flush();
  EXPECT_EQ(storage->use_count(), 1U);
  EXPECT_EQ(storage->pending(), nullptr);
}

TEST_F(Failures, AFullWindowFailsTheCallOnlyIfItIsThatOnesMemory) {
  const Tensor x = ones({1000}).to(kGpu), y = ones({10}).to(kGpu);
  x.sum().item<float>();
  exec::flush();
  set_largest_block(1000);
  const Tensor large = x * 2;
  Tensor small = y;
  for (size_t i = 0; i < 2 * exec::kWindowInstructions; ++i) small = small + 1;
  EXPECT_EQ(small[0].item<float>(), 1 + 2 * static_cast<float>(exec::kWindowInstructions));
  std::vector<Tensor> of_large;
  EXPECT_THROW(
      {
        for (size_t i = 0; i < 2 * exec::kWindowInstructions; ++i) of_large.push_back(large + 1);
      },
      OutOfMemoryError);
  EXPECT_LE(of_large.size(), exec::kWindowInstructions);
  set_largest_block(SIZE_MAX);
  for (const Tensor& t : of_large) EXPECT_EQ(t.sum().item<float>(), 3000);
}

TEST_F(Failures, LostInPlaceWritesAreToldAndNameTheOp) {
  const Tensor x = ones({10}).to(kGpu);
  plant_failure(1);
  x.add_(1);
  EXPECT_THROW(exec::flush(), DeviceError);
  const Tensor y = x * 2;
  for (int i = 0; i < 2; ++i) {
    try {
      y.cpu();
      FAIL() << "y was computed of what was lost";
    } catch (const DeviceError& e) {
      EXPECT_NE(std::string(e.what()).find("planted failure"), std::string::npos);
    }
    EXPECT_THROW(x.cpu(), DeviceError);
    EXPECT_THROW(x.add_(1).cpu(), DeviceError);
  }
  x.copy_(ones({10}));  // all of it is written anew
  EXPECT_EQ(x.sum().item<float>(), 10);
  EXPECT_THROW(y.cpu(), DeviceError);
}

TEST_F(Failures, TheEndOfAThreadIsNoWayToLoseThem) {
  std::vector<std::string> warnings;
  const WarningFunction before = set_warning_handler([&](std::string_view message) { warnings.emplace_back(message); });
  const Tensor x = ones({10}).to(kGpu);
  std::thread([&] {
    plant_failure(1);
    x.add_(1);
  }).join();
  plant_failure(0);
  set_warning_handler(before);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("planted failure"), std::string::npos);
  EXPECT_THROW(x.cpu(), DeviceError);
}

// An error that is on its way out of a scope is not joined by another of the scope's end, which would end the process.
TEST_F(Failures, ScopesEndWhileTheDeviceRefusesCalls) {
  const Device other(kCUDA, 1);
  const cuda::Stream side = cuda::stream_from_pool(1);
  const auto fails_within = [&](const auto& scope) {
    try {
      const auto within = scope();
      refuse_calls(true);
      backend_of(kCUDA).current_device();
      ADD_FAILURE() << "the call was not refused";
    } catch (const DeviceError&) {
    }
    refuse_calls(false);
    EXPECT_EQ(cuda::current_device(), 0);
    EXPECT_FALSE(cuda::current_stream(1) == side);
  };
  fails_within([&] { return std::make_unique<DeviceScope>(other); });
  fails_within([&] { return std::make_unique<cuda::StreamGuard>(side); });
  exec::Place place(other);
  place.stream = side.ref().handle;
  fails_within([&] { return std::make_unique<exec::PlaceScope>(place); });
}

}  // namespace
}  // namespace argand
