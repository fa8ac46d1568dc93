// Training loops are issued as CUDA graphs, and the results are the same bits; skipped where there is no GPU.
#include "argand/core/cpu_generator.h"
#include "argand/exec/window.h"
#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class Replay : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    if (!IsSkipped()) cuda::set_replay_enabled(true);
  }
  void TearDown() override {
    if (!IsSkipped()) cuda::set_replay_enabled(true);
  }
};

// The parameters after some steps of a small net with convolution, pooling, dropout and Adam; every 7th batch is short.
std::vector<Tensor> train(bool replay, bool look_at_loss) {
  cuda::set_replay_enabled(replay);
  manual_seed(3);
  nn::Conv2d conv(nn::Conv2dOptions(3, 8, 3).padding(1));
  nn::Linear a(8 * 7 * 7, 32), b(32, 10);
  std::vector<Tensor> parameters;
  for (nn::Module* m :
       {static_cast<nn::Module*>(conv.get()), static_cast<nn::Module*>(a.get()), static_cast<nn::Module*>(b.get())}) {
    m->to(Device(kCUDA));
    for (const Tensor& p : m->parameters()) parameters.push_back(p);
  }
  optim::Adam optimizer(parameters);
  const Tensor images = randn({64, 3, 14, 14}, TensorOptions(kCUDA)), labels = randint(10, {64}).cuda();
  for (int step = 0; step < 60; ++step) {
    const int64_t n = step % 7 == 6 ? 40 : 64;
    const Tensor x = images.narrow(0, 0, n), y = labels.narrow(0, 0, n);
    optimizer.zero_grad();
    const Tensor h = dropout(a(max_pool2d(conv(x).relu(), 2).flatten(1)).relu(), 0.2, true);
    const Tensor loss = cross_entropy_loss(b(h), y);
    loss.backward();
    optimizer.step();
    if (look_at_loss) {
      EXPECT_TRUE(std::isfinite(loss.item().toFloat()));
    }
  }
  std::vector<Tensor> out;
  for (const Tensor& p : parameters) out.push_back(p.detach().cpu());
  return out;
}

TEST_F(Replay, GivesTheSameBits) {
  for (const bool look_at_loss : {false, true}) {
    const std::vector<Tensor> plain = train(false, look_at_loss);
    const IssueStats before = exec::stats().issue;
    const std::vector<Tensor> replayed = train(true, look_at_loss);
    const IssueStats after = exec::stats().issue;
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(plain[i].equal(replayed[i])) << "parameter " << i;
    const uint64_t launches = after.launches - before.launches, in_graphs = after.replayed - before.replayed;
    EXPECT_GT(in_graphs, launches / 2) << "of " << launches;
    RecordProperty("replayed_of_1000", static_cast<int>(in_graphs * 1000 / launches));
  }
}

// A step that never waits for the device is issued as a whole; after a wait the forward pass is issued by itself.
TEST_F(Replay, AStepIsOneWindowUnlessTheDeviceIsIdle) {
  for (const bool look_at_loss : {false, true}) {
    nn::Linear a(64, 32), b(32, 10);
    std::vector<Tensor> parameters;
    for (nn::Linear layer : {a, b}) {
      layer->to(Device(kCUDA));
      for (const Tensor& p : layer->parameters()) parameters.push_back(p);
    }
    optim::Adam optimizer(parameters);
    const Tensor x = randn({64, 64}, TensorOptions(kCUDA)), y = randint(10, {64}).cuda();
    const auto step = [&] {
      optimizer.zero_grad();
      const Tensor loss = cross_entropy_loss(b(a(x).relu()), y);
      loss.backward();
      optimizer.step();
      if (look_at_loss) loss.item();
    };
    for (int i = 0; i < 5; ++i) step();
    constexpr uint64_t kSteps = 20;
    const uint64_t before = exec::stats().issue.windows;
    for (uint64_t i = 0; i < kSteps; ++i) step();
    // With a look: the forward pass, the backward pass, and the optimizer's step, which the look ends.
    EXPECT_EQ(exec::stats().issue.windows - before, kSteps * (look_at_loss ? 3 : 1));
  }
}

uint64_t windows_of(const Tensor& look) {
  const uint64_t before = exec::stats().issue.windows;
  look.cpu();
  return exec::stats().issue.windows - before;
}

TEST_F(Replay, OnlyWorkOnMemoryWhoseAddressWasGivenIsIssuedAtOnce) {
  Tensor x = ones({8}, TensorOptions(kCUDA)), y = ones({8}, TensorOptions(kCUDA));
  EXPECT_NE(x.data_ptr(), nullptr);
  const Tensor reads = x.cumsum(0);
  EXPECT_EQ(windows_of(reads), 0U) << "what reads it was issued at once";
  EXPECT_EQ(reads.cpu()[7].item().toFloat(), 8);
  const Tensor other = y.cumsum(0);
  EXPECT_EQ(windows_of(other), 1U) << "other work is held back";
  EXPECT_EQ(other.cpu()[7].item().toFloat(), 8);
  x = Tensor();  // the address is nobody's any more
  const Tensor again = ones({8}, TensorOptions(kCUDA)).cumsum(0);
  EXPECT_EQ(windows_of(again), 1U);
}

TEST_F(Replay, AnAddressLeavesTheSameBits) {
  const std::vector<Tensor> right = train(true, false);
  const Tensor exposed = ones({1024}, TensorOptions(kCUDA));
  exposed.data_ptr();
  const IssueStats before = exec::stats().issue;
  const std::vector<Tensor> with = train(true, false);
  EXPECT_GT(exec::stats().issue.replayed, before.replayed) << "replay stays on";
  for (size_t i = 0; i < right.size(); ++i) EXPECT_TRUE(with[i].equal(right[i])) << i;
}

TEST_F(Replay, StreamsStayInOrder) {
  const cuda::Stream side = cuda::stream_from_pool();
  Tensor x = zeros({1024}, TensorOptions(kCUDA));
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 3; ++k) x = x.cumsum(0) * 0 + (x + 1);  // a scan ends a pointwise group
    side.wait_stream(cuda::current_stream());
    {
      const cuda::StreamGuard on(side);
      x = x.cumsum(0) * 0 + (x + 1);
    }
    cuda::current_stream().wait_stream(side);
  }
  EXPECT_TRUE(x.cpu().equal(full({1024}, 800.0f)));
}

}  // namespace
}  // namespace argand
