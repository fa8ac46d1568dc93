// What a profiler sees of ops on a GPU: their time there, next to that of events around many of them; and their memory.
#include "argand/exec/profiler.h"

#include <algorithm>

#include "argand/exec/cuda_graph.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using profiler::Recorded;
using profiler::RecordedEvent;

std::vector<RecordedEvent> named(const Recorded& r, const std::string& name) {
  std::vector<RecordedEvent> out;
  std::copy_if(r.events.begin(), r.events.end(), std::back_inserter(out),
               [&](const RecordedEvent& e) { return e.name == name; });
  return out;
}

class Profiler : public CudaTest {};
class ProfilerTimes : public ComputingCudaTest {};

// Large logits that require grad: the composite launches what makes the loss and its gradient.
TEST_F(ProfilerTimes, OfAComposite) {
  const Tensor logits = randn({4096, 4096}, TensorOptions(kCUDA)).requires_grad_();
  const Tensor target = zeros({4096}, TensorOptions(kCUDA).dtype(kLong));
  cross_entropy_loss(logits, target).backward();
  profiler::Session session({.device = true});
  cross_entropy_loss(logits, target);
  matmul(logits, logits);
  const Recorded r = session.stop();
  ASSERT_TRUE(named(r, "aten::cross_entropy_loss").at(0).on_device);
  EXPECT_GT(named(r, "aten::cross_entropy_loss")[0].on_device->own, 10);  // it moves 128 MB
  EXPECT_FALSE(named(r, "aten::matmul").at(0).on_device);                 // mm is all there is
  ASSERT_TRUE(named(r, "aten::mm").at(0).on_device);
  const auto& mm_time = *named(r, "aten::mm")[0].on_device;
  EXPECT_EQ(mm_time.own, mm_time.end - mm_time.begin);
}

TEST_F(Profiler, WhatRunsOnADevice) {
  const Tensor host = ones({4, 4});
  profiler::Session session({.memory = true, .device = true});
  const Tensor a = zeros({4, 4}, TensorOptions(kCUDA));
  const Tensor b = a + 1;
  const Tensor c = matmul(b, b);
  c.t();
  host.add(1);
  const Tensor d = host.to(kCUDA);
  const Recorded r = session.stop();
  const auto on_device = [&](const std::string& name) { return named(r, name).at(0).on_device.has_value(); };
  EXPECT_TRUE(on_device("aten::mm"));
  EXPECT_FALSE(on_device("aten::matmul"));  // a composite
  EXPECT_FALSE(on_device("aten::t"));       // a view
  const auto adds = named(r, "aten::add");
  ASSERT_EQ(adds.size(), 2U);
  ASSERT_TRUE(adds[0].on_device);
  EXPECT_FALSE(adds[1].on_device);
  EXPECT_EQ(adds[0].on_device->device, b.device());
  EXPECT_EQ(adds[0].device_bytes, 64);
  EXPECT_EQ(adds[0].cpu_bytes + adds[1].device_bytes, 0);
  EXPECT_EQ(adds[1].cpu_bytes, 64);
  EXPECT_TRUE(std::any_of(r.events.begin(), r.events.end(), [](const RecordedEvent& e) {
    return e.on_device && (e.name == "aten::full" || e.name == "aten::zeros");
  }));
}

TEST_F(Profiler, WithoutDeviceNothingIsTimedThere) {
  profiler::Session session({});
  ones({4}, TensorOptions(kCUDA)).add(1);
  for (const RecordedEvent& e : session.stop().events) EXPECT_FALSE(e.on_device) << e.name;
}

TEST_F(ProfilerTimes, AreThoseOfEventsAroundMany) {
  const Tensor a = randn({4096, 4096}, TensorOptions(kCUDA));
  constexpr int kCalls = 20;
  const auto multiply = [&] {
    for (int i = 0; i < kCalls; ++i) mm(a, a);
  };
  multiply();
  cuda::Event begin(true), end(true);
  begin.record();
  multiply();
  end.record();
  end.synchronize();
  const double us = 1000.0 * static_cast<double>(begin.elapsed_time(end)) / kCalls;
  profiler::Session session({.device = true});
  multiply();
  const Recorded r = session.stop();
  const auto calls = named(r, "aten::mm");
  ASSERT_EQ(calls.size(), static_cast<size_t>(kCalls));
  std::vector<double> times;
  double last = 0;
  for (const RecordedEvent& e : calls) {
    ASSERT_TRUE(e.on_device);
    times.push_back(e.on_device->end - e.on_device->begin);
    EXPECT_GE(e.on_device->begin, last - 2);  // one after the other, to a microsecond each
    EXPECT_GE(e.on_device->end, static_cast<double>(e.begin) / 1000 - 50);
    last = e.on_device->end;
  }
  std::sort(times.begin(), times.end());
  EXPECT_NEAR(times[kCalls / 2], us, 0.1 * us);
}

TEST_F(ProfilerTimes, ACaptureIsNotTimed) {
  const Tensor a = ones({64}, TensorOptions(kCUDA));
  a.add(1);
  profiler::Session session({.device = true});
  cuda::CUDAGraph graph;
  {
    const cuda::StreamGuard side(cuda::stream_from_pool());
    graph.capture_begin();
    a.add(2);
    graph.capture_end();
  }
  graph.replay();
  const Recorded r = session.stop();
  ASSERT_EQ(named(r, "aten::add").size(), 1U);
  EXPECT_FALSE(named(r, "aten::add")[0].on_device);
}

}  // namespace
}  // namespace argand
