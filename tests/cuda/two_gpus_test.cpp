// What needs two GPUs: peer copies, order between devices, statistics per device, backward over both.  Skipped with the
// reason where there are fewer; with ARGAND_CUDA_DRY_RUN=2 what looks at no values runs on pretended ones.
#include <atomic>
#include <set>
#include <thread>

#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_memory.h"
#include "argand/exec/window.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/parallel/data_parallel.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

const Device kFirst(kCUDA, 0), kSecond(kCUDA, 1);

class TwoGpus : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && cuda::device_count() < 2) GTEST_SKIP() << "there is one GPU: two are needed";
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(cuda::current_device(), 0) << "a test left another device current";
  }
};

class ComputingTwoGpus : public TwoGpus {
 protected:
  void SetUp() override {
    TwoGpus::SetUp();
    if (!IsSkipped() && !kernels_run()) GTEST_SKIP() << "the dry run computes nothing";
  }
};

bool same(const Tensor& a, const Tensor& b) { return a.cpu().equal(b.cpu()); }

TEST_F(ComputingTwoGpus, CopiesGoBothWaysWhateverTheLayout) {
  manual_seed(1);
  const Tensor base = randn({64, 48, 10});
  std::vector<Tensor> layouts = {base,
                                 base.transpose(0, 2),
                                 base.slice(0, 3, 60, 4),
                                 base[5].t(),
                                 base.select(2, 1).unsqueeze(0).expand({3, 64, 48}),
                                 base.slice(0, 0, 0)};
  for (const auto& [from, to] : {std::pair(kFirst, kSecond), std::pair(kSecond, kFirst)})
    for (const Tensor& host : layouts) {
      const Tensor all = base.to(from);
      const Tensor there = all.as_strided(host.sizes(), host.strides(), host.storage_offset());
      const Tensor moved = there.to(to);
      EXPECT_EQ(moved.device(), to);
      EXPECT_TRUE(same(moved, host)) << str(host.sizes());
      EXPECT_TRUE(same(there.to(to, kHalf), host.to(kHalf))) << str(host.sizes());
      Tensor target = full(host.sizes(), -1.0f, TensorOptions(to));
      target.copy_(there, true);
      EXPECT_TRUE(same(target, host)) << str(host.sizes());
      if (host.dim() == 3 && host.numel() > 0) {
        Tensor strided = full({host.size(2), host.size(1), host.size(0)}, -1.0f, TensorOptions(to)).transpose(0, 2);
        strided.copy_(there);
        EXPECT_TRUE(same(strided, host)) << str(host.sizes());
      }
    }
}

TEST_F(TwoGpus, ContiguousCopiesGoBothWays) {
  const Tensor host = arange(1000), there = host.to(kSecond), back = there.to(kFirst).to(kSecond).cpu();
  EXPECT_TRUE(same(there, host));
  EXPECT_TRUE(back.equal(host));
}

// Replicas, their threads and the gradients that come back; the pretended devices refuse work that is issued on the
// wrong one.
TEST_F(TwoGpus, DataParallelIssuesOnTheDeviceOfItsOperands) {
  nn::Linear model(6, 4);
  model->to(kFirst);
  const Tensor x = randn({7, 6}, TensorOptions(kFirst)).set_requires_grad(true);
  for (int step = 0; step < 3; ++step) {
    const Tensor y = parallel::data_parallel(model, x).tanh();
    EXPECT_EQ(y.device(), kFirst);
    y.square().sum().backward();
    EXPECT_EQ(x.grad().device(), kFirst);
    EXPECT_EQ(model->weight.grad().device(), kFirst);
    cuda::synchronize(1);
  }
}

TEST_F(ComputingTwoGpus, LargeCopiesArriveWhole) {
  const Tensor x = arange(int64_t{32} << 20, TensorOptions(kInt).device(kFirst));
  const Tensor there = x.to(kSecond), back = there.to(kFirst);
  EXPECT_TRUE(back.equal(x));
  EXPECT_EQ(there.sum().item().toLong(), x.sum().item().toLong());
}

// A long queue of work on one device, and a copy that must come after it; then the source is overwritten at once.
TEST_F(ComputingTwoGpus, CopiesAreInOrderWithTheWorkOfBothDevices) {
  for (int round = 0; round < 20; ++round) {
    Tensor x = zeros({1 << 22}, TensorOptions(kFloat).device(kFirst));
    for (int i = 0; i < 30; ++i) x = (x + 1).clone();
    Tensor y = x.to(kSecond);
    x.fill_(-1);
    for (int i = 0; i < 30; ++i) y = (y + 1).clone();
    Tensor z = y.to(kFirst);
    y.fill_(-2);
    y = Tensor();
    const Tensor noise = full({1 << 22}, -3.0f, TensorOptions(kSecond));
    z = z + 1;
    EXPECT_EQ(z.min().item().toFloat(), 61);
    EXPECT_EQ(z.max().item().toFloat(), 61);
  }
}

TEST_F(ComputingTwoGpus, SideStreamsOfTwoDevicesOrderByEvents) {
  const cuda::Stream a = cuda::stream_from_pool(0), b = cuda::stream_from_pool(1);
  EXPECT_EQ(a.device_index(), 0);
  EXPECT_EQ(b.device_index(), 1);
  for (int round = 0; round < 20; ++round) {
    Tensor x, y, z;
    {
      const cuda::StreamGuard on(a);
      x = full({1 << 22}, static_cast<float>(round), TensorOptions(kFirst));
      for (int i = 0; i < 20; ++i) x = (x + 1).clone();
    }
    cuda::current_stream(0).wait_stream(a);
    {
      const cuda::StreamGuard on(b);
      EXPECT_EQ(cuda::current_device(), 1);
      y = x.to(kSecond);  // on the default stream of the source, which b waits for
      for (int i = 0; i < 20; ++i) y = (y + 1).clone();
      const cuda::Event done = cuda::current_stream().record_event();
      cuda::current_stream(0).wait_event(done);
    }
    cuda::default_stream(1).wait_stream(b);
    z = y.to(kFirst);
    EXPECT_EQ(z.min().item().toFloat(), static_cast<float>(round + 40));
    EXPECT_EQ(z.max().item().toFloat(), static_cast<float>(round + 40));
  }
}

TEST_F(TwoGpus, OperandsOnTwoGpusAreRefused) {
  const Tensor x = ones({3}, TensorOptions(kFirst)), y = ones({3}, TensorOptions(kSecond));
  const std::string tail = "found at least two devices, cuda:0 and cuda:1!";
  EXPECT_NE(message_of<DeviceError>([&] { x + y; }).find(tail), std::string::npos);
  EXPECT_NE(message_of<DeviceError>([&] { x.unsqueeze(0).mm(y.unsqueeze(1)); }).find(tail), std::string::npos);
  EXPECT_NE(
      message_of<DeviceError>([&] { index_select(x, 0, zeros({1}, TensorOptions(kLong).device(kSecond))); }).find(tail),
      std::string::npos);
  EXPECT_THROW(Tensor(x).add_(y), DeviceError);
  EXPECT_THROW(Tensor(x).add_(ones({}, TensorOptions(kSecond))), DeviceError) << "0-dim tensors of GPUs join nothing";
  const Tensor product = y * full({}, 3.0);
  EXPECT_EQ(product.device(), kSecond);
  EXPECT_TRUE(!kernels_run() || same(product, full({3}, 3.0)));
}

TEST_F(TwoGpus, GuardsAndSetDevice) {
  EXPECT_EQ(cuda::current_device(), 0);
  cuda::set_device(1);
  EXPECT_EQ(ones({2}, TensorOptions(kCUDA)).device(), kSecond);
  {
    const cuda::DeviceGuard on(DeviceIndex{0});
    EXPECT_EQ(ones({2}, TensorOptions(kCUDA)).device(), kFirst);
    EXPECT_EQ(ones({2}).cuda().device(), kFirst);
    std::thread([] { EXPECT_EQ(cuda::current_device(), 0) << "each thread has its own, 0 at first"; }).join();
  }
  EXPECT_EQ(cuda::current_device(), 1);
  EXPECT_EQ((ones({2}, TensorOptions(kFirst)) * 2).device(), kFirst) << "ops run where their operands are";
  EXPECT_EQ(cuda::current_device(), 1);
  cuda::set_device(0);
  EXPECT_THROW(cuda::set_device(static_cast<DeviceIndex>(cuda::device_count())), DeviceError);
  EXPECT_EQ(cuda::get_device_properties(1).major, cuda::get_device_capability(1).first);
}

TEST_F(TwoGpus, MemoryIsCountedPerDevice) {
  cuda::empty_cache();
  const int64_t first = cuda::memory_allocated(0), second = cuda::memory_allocated(1);
  {
    Tensor x = empty({1 << 20}, TensorOptions(kFloat).device(kSecond));
    x.zero_();
    cuda::synchronize(1);
    EXPECT_EQ(cuda::memory_allocated(0), first);
    EXPECT_EQ(cuda::memory_allocated(1) - second, 4 << 20);
    EXPECT_GE(cuda::memory_reserved(1), cuda::memory_allocated(1));
    const Tensor y = x.to(kFirst);
    cuda::synchronize(0);
    EXPECT_EQ(cuda::memory_allocated(0) - first, 4 << 20);
  }
  EXPECT_EQ(cuda::memory_allocated(0), first);
  EXPECT_EQ(cuda::memory_allocated(1), second);
  EXPECT_GT(cuda::mem_get_info(1).second, size_t{1} << 30);
}

TEST_F(ComputingTwoGpus, PeersAreSymmetricAndNobodyIsItsOwn) {
  EXPECT_EQ(cuda::can_device_access_peer(0, 1), cuda::can_device_access_peer(1, 0));
  EXPECT_FALSE(cuda::can_device_access_peer(0, 0));
  std::printf("[  NOTE    ] peer access between cuda:0 and cuda:1: %s\n",
              cuda::can_device_access_peer(0, 1) ? "yes" : "no");
  constexpr int64_t kBytes = int64_t{256} << 20;
  const Tensor x = zeros({kBytes}, TensorOptions(kByte).device(kFirst));
  Tensor y = empty({kBytes}, TensorOptions(kByte).device(kSecond));
  y.copy_(x);
  cuda::synchronize(0);
  cuda::Event start(true), end(true);
  start.record(cuda::current_stream(0));
  for (int i = 0; i < 10; ++i) y.copy_(x);
  end.record(cuda::current_stream(0));
  end.synchronize();
  std::printf("[  NOTE    ] peer copies of 256 MiB: %.1f GB/s\n",
              10.0 * kBytes / 1e6 / static_cast<double>(start.elapsed_time(end)));
}

TEST_F(ComputingTwoGpus, RandomNumbersOfEachDevice) {
  manual_seed(3);
  const Tensor a = rand({1000}, TensorOptions(kFirst)), b = rand({1000}, TensorOptions(kSecond));
  EXPECT_TRUE(same(a, b)) << "the same seed, a generator each";
  EXPECT_FALSE(same(rand({1000}, TensorOptions(kFirst)), a));
}

// ---- backward

Tensor two_device_loss(const Tensor& x, const Tensor& w1, const Tensor& w2, const Device& a, const Device& b) {
  const Tensor h = x.to(a).mm(w1).tanh();
  const Tensor g = (h.to(b).mm(w2)).sigmoid();
  return (g.to(a) * h + (h * 2).to(b).softmax(1).to(a)).sum();
}

TEST_F(ComputingTwoGpus, BackwardEqualsTheCpus) {
  manual_seed(4);
  const Tensor x = randn({32, 48}, kDouble), w1 = randn({48, 48}, kDouble), w2 = randn({48, 48}, kDouble);
  const auto gradients = [&](const Device& a, const Device& b) {
    std::vector<Tensor> leaves = {x.detach().clone().requires_grad_(), w1.to(a).detach().requires_grad_(),
                                  w2.to(b).detach().requires_grad_()};
    if (a.is_cpu())
      for (Tensor& t : leaves) t = t.detach().clone().requires_grad_();
    two_device_loss(leaves[0], leaves[1], leaves[2], a, b).backward();
    std::vector<Tensor> out;
    for (const Tensor& t : leaves) {
      EXPECT_EQ(t.grad().device(), t.device());
      out.push_back(t.grad().cpu());
    }
    return out;
  };
  const std::vector<Tensor> expected = gradients(kCPU, kCPU), first = gradients(kFirst, kSecond);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(first[i].allclose(expected[i], 1e-9, 1e-11)) << "leaf " << i;
  for (int round = 0; round < 200; ++round) {
    const std::vector<Tensor> again = gradients(kFirst, kSecond);
    for (size_t i = 0; i < first.size(); ++i)
      ASSERT_TRUE(again[i].equal(first[i])) << "leaf " << i << " round " << round;
  }
}

struct NoteThread : autograd::Function<NoteThread> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 1; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list grads) {
    const std::lock_guard lock(mutex());
    seen().insert({grads[0].device().index(), std::this_thread::get_id()});
    EXPECT_EQ(cuda::current_device(), grads[0].device().index());
    return {grads[0] * 1};
  }
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::set<std::pair<int, std::thread::id>>& seen() {
    static std::set<std::pair<int, std::thread::id>> s;
    return s;
  }
};

TEST_F(TwoGpus, EachHasAnEngineThread) {
  const Tensor x = ones({4}, TensorOptions(kFirst)).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 6; ++i) y = NoteThread::apply(y.to(i % 2 ? kSecond : kFirst));
  y.sum().backward();
  EXPECT_EQ(NoteThread::seen().size(), 2U);
  EXPECT_EQ(NoteThread::seen().count({0, std::this_thread::get_id()}), 0U);
  EXPECT_TRUE(!kernels_run() || same(x.grad(), ones({4})));
}

// Forward on side streams of both; gradients and sums are used at once on the default streams.
TEST_F(ComputingTwoGpus, BackwardOverSideStreamsOfBoth) {
  const cuda::Stream a = cuda::stream_from_pool(0), b = cuda::stream_from_pool(1);
  const Tensor w = ones({1 << 20}, TensorOptions(kFirst)).requires_grad_();
  for (int round = 0; round < 50; ++round) {
    Tensor loss;
    a.wait_stream(cuda::current_stream(0));
    b.wait_stream(cuda::current_stream(1));
    {
      const cuda::StreamGuard on_b(b);
      const cuda::StreamGuard on_a(a);
      Tensor y = w;
      for (int i = 0; i < 4; ++i) y = (y * 2).to(kSecond).mul(0.5).to(kFirst) + w;
      loss = y.sum();
    }
    cuda::current_stream(0).wait_stream(a);
    loss.backward();
    const Tensor g = w.grad() * 1;
    w.mutable_grad() = Tensor();
    ASSERT_EQ(g.min().item().toFloat(), 5) << round;
    ASSERT_EQ(g.max().item().toFloat(), 5) << round;
  }
}

// Two threads, each with a training loop of its own on its GPU.
TEST_F(ComputingTwoGpus, TrainingInAThreadPerGpu) {
  std::vector<Tensor> results(2);
  std::vector<std::thread> threads;
  for (int d = 0; d < 2; ++d)
    threads.emplace_back([&, d] {
      const cuda::DeviceGuard on(static_cast<DeviceIndex>(d));
      const Tensor x = (arange(64 * 32, TensorOptions(kFloat).device(kCUDA)) * 0.01).sin().view({64, 32});
      const Tensor w = full({32, 8}, 0.1, TensorOptions(kFloat).device(kCUDA)).requires_grad_();
      for (int step = 0; step < 300; ++step) {
        (x.mm(w).tanh() - 0.5).pow(2).mean().backward();
        const NoGradGuard no_grad;
        w.sub_(w.grad(), 0.1);
        w.mutable_grad() = Tensor();
      }
      results[static_cast<size_t>(d)] = w.detach().cpu();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(results[0].equal(results[1]));
}

// Values, gradients of parameters and input, and a few steps, beside those of one GPU.
TEST_F(ComputingTwoGpus, DataParallelAgreesWithOne) {
  nn::Linear one(6, 4), both(6, 4);
  for (nn::Linear m : {one, both}) m->to(kFirst);
  const NoGradGuard no_grad;
  both->weight.copy_(one->weight);
  both->bias.copy_(one->bias);
  const AutoGradMode grad(true);
  const Tensor x = randn({7, 6}, TensorOptions(kFirst)).set_requires_grad(true);
  for (int step = 0; step < 3; ++step) {
    const Tensor expected = one->forward(x).tanh(), got = parallel::data_parallel(both, x).tanh();
    EXPECT_EQ(got.device(), kFirst);
    EXPECT_TRUE(got.allclose(expected, 1e-5, 1e-6));
    const auto of = [&](const Tensor& y, const nn::Linear& m) {
      return autograd::grad({y.square().sum()}, {m->weight, m->bias, x});
    };
    const auto wanted = of(expected, one), found = of(got, both);
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(found[i].device(), kFirst);
      EXPECT_TRUE(found[i].allclose(wanted[i], 1e-5, 1e-6)) << "gradient " << i << ", step " << step;
    }
    const NoGradGuard update;
    for (size_t i = 0; i < 2; ++i) {
      (i == 0 ? one->weight : one->bias).sub_(wanted[i], 0.1);
      (i == 0 ? both->weight : both->bias).sub_(found[i], 0.1);
    }
  }
}

}  // namespace
}  // namespace argand
