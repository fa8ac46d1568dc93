// A backend from outside of the library: its devices, streams and memory, and a training step on one of them.
#include <gtest/gtest.h>

#include <thread>

#include "argand/base/log.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/autocast.h"
#include "argand/exec/stream.h"
#include "argand/exec/trace.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "tests/sim/backend.h"

namespace argand::sim {
namespace {

// Before any test asks for the device under test.
const bool registered = (register_devices(kPrivateUse1), true);

const Device kSim(kPrivateUse1, 0);

class Sim : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(registered); }
  void TearDown() override { EXPECT_EQ(take_races(), std::vector<std::string>{}); }
};

TEST_F(Sim, DevicesHaveTheNameOfTheBackend) {
  EXPECT_EQ(Device("sim:1").str(), "sim:1");
  EXPECT_EQ(Device("sim:1").type(), kPrivateUse1);
  EXPECT_EQ(get_privateuse1_backend(), "sim");
  EXPECT_EQ(accelerator_type(), kPrivateUse1);
  EXPECT_THROW(Device("privateuseone"), ValueError);
  EXPECT_THROW(register_privateuse1_backend("other"), ValueError);
  EXPECT_THROW(register_privateuse1_backend("cuda"), ValueError);
  EXPECT_THROW(register_privateuse1_backend("a b"), ValueError);
  const Tensor t = ones({2}, TensorOptions(kFloat).device("sim"));
  EXPECT_TRUE(t.is_privateuseone());
  EXPECT_TRUE(t.is_accelerator());
  EXPECT_FALSE(t.is_cuda());
  EXPECT_EQ(t.device().str(), "sim:0");
  EXPECT_EQ(t.toString(), "SimFloatType");
}

TEST_F(Sim, AProcessHasOneKindOfAccelerator) {
  std::string why;
  EXPECT_EQ(find_backend(kCUDA, &why), nullptr);
  EXPECT_NE(why.find("this process uses sim devices"), std::string::npos) << why;
  EXPECT_THROW(ones({2}, TensorOptions(kFloat).device(kCUDA)), DeviceError);
}

using SimDeathTest = Sim;
TEST_F(SimDeathTest, TheCpuCannotTouchTheMemory) {
  const Tensor t = ones({2}, TensorOptions(kFloat).device(kSim));
  const auto* const elements = static_cast<const float*>(t.data_ptr());
  EXPECT_DEATH(std::fprintf(stderr, "%f", static_cast<double>(elements[0])), "");
}

TEST_F(Sim, TensorsMoveBetweenDevices) {
  const Tensor x = arange(6, kFloat).view({2, 3});
  const Tensor a = x.to(kSim), b = a.to(Device(kPrivateUse1, 2));
  EXPECT_EQ(b.device().index(), 2);
  EXPECT_TRUE((b * 2).cpu().equal(x * 2));
  EXPECT_TRUE(a.t().cpu().equal(x.t()));
  EXPECT_TRUE(a.to(kDouble).cpu().equal(x.to(kDouble)));
  EXPECT_THROW(a + b, DeviceError);
  EXPECT_TRUE((a + tensor(1.0)).cpu().equal(x + 1));
}

// Warnings say so, once for each op.
TEST_F(Sim, WhatHasNoKernelRunsOnTheCpu) {
  std::vector<std::string> warnings;
  const WarningFunction before = set_warning_handler([&](std::string_view w) { warnings.emplace_back(w); });
  const Tensor x = rand({4, 4}, kDouble);
  EXPECT_TRUE(cumsum(x.to(kSim), 0).cpu().equal(cumsum(x, 0)));
  set_warning_handler(before);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("there is no kernel for sim:0"), std::string::npos) << warnings[0];
}

TEST_F(Sim, WhatHasABlockRunsOnTheDevice) {
  std::vector<std::string> warnings;
  const WarningFunction before = set_warning_handler([&](std::string_view w) { warnings.emplace_back(w); });
  const Tensor x = rand({3, 4}), w = rand({4, 5});
  EXPECT_TRUE(mm(x.to(kSim), w.to(kSim)).cpu().equal(mm(x, w)));
  EXPECT_TRUE(softmax(x.to(kSim), 1).cpu().equal(softmax(x, 1)));
  EXPECT_TRUE((x.to(kSim).sin() * 2).cpu().equal(x.sin() * 2));
  set_warning_handler(before);
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

TEST_F(Sim, DrawsFollowTheDevicesGenerator) {
  manual_seed(3);
  const Tensor first = rand({8}, TensorOptions(kFloat).device(kSim)).cpu();
  const Tensor second = rand({8}, TensorOptions(kFloat).device(kSim)).cpu();
  manual_seed(3);
  EXPECT_TRUE(rand({8}, TensorOptions(kFloat).device(kSim)).cpu().equal(first));
  EXPECT_FALSE(second.equal(first));
}

TEST_F(Sim, StreamsAndEvents) {
  const Stream usual = current_stream(kSim), side = stream_from_pool(kSim);
  const Tensor x = arange(1000, kFloat).to(kSim);
  Event begin(kPrivateUse1, true), end(kPrivateUse1, true);
  begin.record(usual);
  side.wait_event(begin);
  Tensor y;
  {
    const StreamGuard on(side);
    EXPECT_EQ(current_stream(kSim), side);
    y = x * 2;
    y.data_ptr();
  }
  EXPECT_EQ(current_stream(kSim), usual);
  end.record(side);
  usual.wait_event(end);
  EXPECT_TRUE((y + 1).cpu().equal(arange(1000, kFloat) * 2 + 1));
  EXPECT_TRUE(end.query());
  EXPECT_GE(begin.elapsed_time(end), 0);
}

TEST_F(Sim, AutocastIsOnForTheDevice) {
  const Tensor x = rand({3, 4}).to(kSim), w = rand({4, 5}).to(kSim);
  {
    const AutocastGuard autocast(kPrivateUse1, kBFloat16);
    EXPECT_EQ(mm(x, w).dtype(), kBFloat16);
  }
  EXPECT_EQ(mm(x, w).dtype(), kFloat);
  EXPECT_THROW(AutocastGuard{kCUDA}, ValueError);
}

TEST_F(Sim, ATraceHasTimesOfTheDevice) {
  tracing::Recording recording(kSim);
  { const tracing::Span span("work", 1, "stream", current_stream(kSim)); }
  const auto spans = recording.spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[1].row, "stream");
}

Tensor train(const Device& device) {
  manual_seed(1);
  nn::Linear first(8, 16), second(16, 3);
  const Tensor x = rand({32, 8}), y = randint(3, {32});
  first->to(device);
  second->to(device);
  std::vector<Tensor> parameters = first->parameters();
  for (const Tensor& p : second->parameters()) parameters.push_back(p);
  optim::Adam adam(parameters, optim::AdamOptions(0.01));
  const Tensor data = x.to(device), target = y.to(device);
  Tensor loss;
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad();
    loss = cross_entropy_loss(second(first(data).relu()), target);
    loss.backward();
    adam.step();
  }
  return loss.detach().cpu();
}

TEST_F(Sim, ATrainingStep) { EXPECT_TRUE(allclose(train(kSim), train(kCPU), 1e-5)); }

}  // namespace
}  // namespace argand::sim
