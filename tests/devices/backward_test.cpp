// backward() over graphs on several devices and streams.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/sim/backend.h"

namespace argand::autograd {
namespace {

Device gpu(int i) { return Device(kCUDA, static_cast<DeviceIndex>(i)); }

// The device and thread on which a node ran.
struct Visit {
  std::string device;  // of the gradient
  std::thread::id thread;
  int current_device;
  void* stream;
};
std::mutex visits_mutex;
std::vector<Visit> visits;

// The identity; notes where its backward runs.
struct Mark : Function<Mark> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    const DeviceIndex current = cuda::current_device();
    const std::lock_guard lock(visits_mutex);
    visits.push_back({str(grads[0].device()), std::this_thread::get_id(), current,
                      grads[0].is_cuda() ? cuda::current_stream(grads[0].device().index()).ref().handle : nullptr});
    return {grads[0] * 1};
  }
};

struct Fail : Function<Fail> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    ARGAND_THROW(ValueError, "planted on ", grads[0].device());
  }
};

class SeveralDevices : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { sim::register_devices(kCUDA); }
  void SetUp() override { visits.clear(); }
  void TearDown() override { EXPECT_EQ(sim::take_races(), std::vector<std::string>{}); }
};

// A loss to which one weight contributes in many places, on all `devices` in turn, with a sum that depends on its
// order.
Tensor many_uses(const Tensor& w, const std::vector<Device>& devices) {
  const Device home = w.device();
  Tensor loss = zeros({}, TensorOptions(kFloat).device(home));
  for (int i = 0; i < 40; ++i) {
    const Device& d = devices[static_cast<size_t>(i) % devices.size()];
    const Tensor factor = (arange(w.numel(), kFloat) * 0.37 + i * 1.7).sin().to(d);
    const Tensor part = (w.to(d) * factor * std::pow(7.0, i % 9 - 4)).tanh();
    loss = loss + part.sum().to(home);
  }
  return loss;
}

std::vector<float> values(const Tensor& t) {
  const Tensor host = t.detach().cpu().contiguous();
  const auto* p = static_cast<const float*>(host.data_ptr());
  return {p, p + host.numel()};
}

TEST_F(SeveralDevices, GradientsAreTheBitsOfOneThread) {
  manual_seed(1);
  const Tensor start = randn({300});
  const Tensor on_cpu = start.clone().requires_grad_();
  many_uses(on_cpu, {kCPU}).backward();
  for (int round = 0; round < 30; ++round) {
    const Tensor w = start.to(gpu(round % 2)).requires_grad_();
    many_uses(w, {gpu(0), gpu(1), kCPU, gpu(2)}).backward();
    ASSERT_EQ(w.grad().device(), w.device());
    ASSERT_EQ(values(w.grad()), values(on_cpu.grad())) << "round " << round;
  }
}

TEST_F(SeveralDevices, TheOrderOfSumsMattersInThatTest) {
  manual_seed(1);
  const Tensor start = randn({300}), a = start.clone().requires_grad_(), b = start.clone().requires_grad_();
  many_uses(a, {kCPU}).backward();
  Tensor sum = zeros({300});
  for (int i = 0; i < 40; ++i) {  // first to last; the engine goes from the last
    const Tensor factor = (arange(300, kFloat) * 0.37 + i * 1.7).sin();
    sum = sum + grad({(b * factor * std::pow(7.0, i % 9 - 4)).tanh().sum()}, {b})[0];
  }
  EXPECT_NE(values(sum), values(a.grad()));
  EXPECT_TRUE(sum.allclose(a.grad(), 1e-3, 1e-3));
}

TEST_F(SeveralDevices, EachGpuHasAThreadAndTheCpuTheCallers) {
  const Tensor x = ones({4}).requires_grad_();
  Tensor y = Mark::apply(x);
  for (int i = 0; i < 4; ++i) y = Mark::apply(Mark::apply(y.to(gpu(i % 2))) * 2);
  Mark::apply(y.cpu()).sum().backward();
  EXPECT_EQ(values(x.grad()), std::vector<float>(4, 16));
  std::map<std::string, std::set<std::thread::id>> threads;
  for (const Visit& v : visits) {
    threads[v.device].insert(v.thread);
    if (v.device != "cpu") {
      EXPECT_EQ(v.device, str("cuda:", v.current_device));
    }
  }
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads["cpu"], std::set{std::this_thread::get_id()});
  EXPECT_EQ(threads["cuda:0"].size(), 1U);
  EXPECT_EQ(threads["cuda:1"].size(), 1U);
  EXPECT_NE(threads["cuda:0"], threads["cuda:1"]);
  EXPECT_NE(threads["cuda:0"], threads["cpu"]);
}

TEST_F(SeveralDevices, GraphsOfOneGpuStayInTheCallersThread) {
  const Tensor x = ones({4}).requires_grad_();
  Mark::apply(Mark::apply(x.to(gpu(1))).cpu()).sum().backward();
  ASSERT_EQ(visits.size(), 2U);
  for (const Visit& v : visits) EXPECT_EQ(v.thread, std::this_thread::get_id());
  EXPECT_EQ(visits[1].current_device, 1) << "the device of its forward op";
  EXPECT_EQ(cuda::current_device(), 0);
}

TEST_F(SeveralDevices, ErrorsReachTheCallerAndTheNextPassWorks) {
  for (int round = 0; round < 20; ++round) {
    const Tensor x = ones({4}).requires_grad_();
    const Tensor y = x.to(gpu(0)) * 2, z = (y.to(gpu(1)) * 3).to(gpu(0));
    try {
      (Fail::apply(y.to(gpu(1))).to(gpu(0)) + z).sum().backward();
      FAIL() << "no error";
    } catch (const ValueError& e) {
      EXPECT_NE(std::string(e.what()).find("planted on cuda:1"), std::string::npos) << e.what();
    }
    const Tensor w = ones({4}).requires_grad_();
    ((w.to(gpu(0)) * 2).to(gpu(1)) * 3).sum().backward();
    EXPECT_EQ(values(w.grad()), std::vector<float>(4, 6));
  }
}

// Its gradient is computed by a backward pass of its own over both GPUs, `levels` deep.
struct Recompute : Function<Recompute> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t levels) {
    ctx->save_for_backward({x});
    ctx->saved_data["levels"] = levels;
    return body(x, 0);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const EnableGradGuard on;
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    body(x, ctx->saved_data["levels"].toInt()).backward(grads[0]);
    return {x.grad(), Tensor()};
  }
  static Tensor body(const Tensor& x, int64_t levels) {
    const Device other = gpu(1 - x.device().index());
    const Tensor there = (x * 2).to(other);
    const Tensor inner = levels > 0 ? apply(there, levels - 1) : body_of_last(there);
    return (inner * 3).to(x.device());
  }
  static Tensor body_of_last(const Tensor& x) {
    const Device other = gpu(1 - x.device().index());
    return ((x * 2).to(other) * 3).to(x.device());
  }
};

TEST_F(SeveralDevices, BackwardInsideNodesOfSeveralDevices) {
  for (int round = 0; round < 10; ++round) {
    const Tensor x = ones({8}).requires_grad_();
    const Tensor a = Recompute::apply(x.to(gpu(0)), int64_t{0}), b = Recompute::apply(x.to(gpu(1)), int64_t{0});
    (a + b.to(gpu(0))).sum().backward();
    EXPECT_EQ(values(x.grad()), std::vector<float>(8, 2 * 36));
  }
}

TEST_F(SeveralDevices, PassesInSeveralThreads) {
  manual_seed(1);
  const Tensor start = randn({300}), on_cpu = start.clone().requires_grad_();
  many_uses(on_cpu, {kCPU}).backward();
  const std::vector<float> expected = values(on_cpu.grad());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      exec::set_window_mode(t % 2 ? exec::WindowMode::kAlways : exec::WindowMode::kEager);
      for (int round = 0; round < 10; ++round) {
        const Tensor w = start.to(gpu(t % 3)).requires_grad_();
        many_uses(w, {gpu(0), gpu(1), kCPU, gpu(2)}).backward();
        if (values(w.grad()) != expected) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

struct Look : Function<Look> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    EXPECT_EQ(GradMode::is_enabled(), expected_grad.load());
    EXPECT_EQ(default_device(), Device("cuda:2"));
    EXPECT_EQ(exec::window_mode(), exec::WindowMode::kEager);
    EXPECT_EQ(zeros({1}, TensorOptions(kCUDA)).device(), grads[0].device());
    return {grads[0] * 1};
  }
  static inline std::atomic<bool> expected_grad{false};
};

TEST_F(SeveralDevices, NodesSeeTheCallersModes) {
  set_default_device("cuda:2");
  exec::set_window_mode(exec::WindowMode::kEager);
  for (const bool create_graph : {false, true}) {
    Look::expected_grad = create_graph;
    const Tensor x = ones({2}, TensorOptions(kCPU)).requires_grad_();
    const Tensor y = Look::apply(Look::apply(x.to(gpu(0))).to(gpu(1)) * 2);
    const Tensor g = grad({y.pow(2).sum()}, {x}, {}, {}, create_graph)[0];
    EXPECT_EQ(values(g), std::vector<float>(2, 8));
    EXPECT_EQ(g.requires_grad(), create_graph);
  }
  exec::set_window_mode(exec::WindowMode::kAuto);
  set_default_device(kCPU);
}

// ---- streams; from here on threads have left their default streams

class SeveralStreams : public SeveralDevices {};

TEST_F(SeveralStreams, AMissingWaitIsSeen) {
  const Tensor x = ones({8}).to(gpu(0));
  Tensor y;
  const cuda::Stream side = cuda::stream_from_pool(0);
  side.wait_stream(cuda::current_stream(0));
  {
    const cuda::StreamGuard on(side);
    y = x * 2;
    exec::flush();
  }
  const Tensor z = y + 1;
  exec::flush();
  EXPECT_EQ(sim::take_races().size(), 1U);
  cuda::current_stream(0).wait_stream(side);
  const Tensor again = y + 1;
  exec::flush();
  EXPECT_TRUE(sim::take_races().empty());
}

// Forward on a side stream of each device, backward() and the look at gradients on the default streams.
void side_streams(const std::vector<int>& devices) {
  manual_seed(2);
  const Tensor start = randn({64});
  const auto loss_of = [](const Tensor& a, const Tensor& b) { return ((a * 3).tanh() * b + a).sum(); };
  const Tensor expected = start.clone().requires_grad_();
  const Tensor expected_there = expected * 1, expected_here = expected * 1;
  loss_of(expected_there, expected_here).backward();
  for (int round = 0; round < 10; ++round) {
    const Tensor w = start.to(gpu(0)).requires_grad_();
    std::vector<cuda::Stream> sides;
    for (const int d : devices) {
      sides.push_back(cuda::stream_from_pool(static_cast<DeviceIndex>(d)));
      sides.back().wait_stream(cuda::current_stream(static_cast<DeviceIndex>(d)));
      cuda::set_stream(sides.back());
    }
    const int other = devices.back();
    const Tensor there = Mark::apply(w.to(gpu(other)) * 1), here = Mark::apply(w * 1);
    here.retain_grad();
    const Tensor loss = loss_of(there, here.to(gpu(other)));
    for (const cuda::Stream& side : sides) {
      const cuda::Stream usual = cuda::default_stream(side.device_index());
      cuda::set_stream(usual);
      usual.wait_stream(side);
    }
    visits.clear();
    loss.backward({}, true);
    const Tensor sum = w.grad() + here.grad();  // nothing is waited for
    EXPECT_EQ(values(w.grad()), values(expected.grad()));
    const Tensor again = grad({loss}, {here})[0] + here.grad();
    w.grad().zero_();
    exec::flush();
    ASSERT_GE(visits.size(), 2U);
    for (const Visit& v : visits)
      for (const cuda::Stream& s : sides)
        if (str(s.device()) == v.device) {
          EXPECT_EQ(v.stream, s.ref().handle) << "the stream of its forward op";
        }
    for (const int d : devices)
      EXPECT_TRUE(cuda::current_stream(static_cast<DeviceIndex>(d)) ==
                  cuda::default_stream(static_cast<DeviceIndex>(d)));
  }
}

TEST_F(SeveralStreams, OneDevice) { side_streams({0}); }
TEST_F(SeveralStreams, TwoDevices) { side_streams({0, 1}); }

TEST_F(SeveralStreams, BranchesOnTheirOwnStreamsMeet) {
  const Tensor w = ones({16}).to(gpu(0)).requires_grad_();
  for (int round = 0; round < 10; ++round) {
    Tensor loss = zeros({}, TensorOptions(gpu(0)));
    for (int branch = 0; branch < 4; ++branch) {
      const cuda::Stream side = cuda::stream_from_pool(0);
      side.wait_stream(cuda::current_stream(0));
      Tensor part;
      {
        const cuda::StreamGuard on(side);
        part = (w * (branch + 1)).sum();
      }
      cuda::current_stream(0).wait_stream(side);
      loss = loss + part;
    }
    loss.backward();
    EXPECT_EQ(values(w.grad()), std::vector<float>(16, 10.0F * static_cast<float>(round + 1)));
    const NoGradGuard no_grad;
    w.add_(w.grad(), 0);
    exec::flush();
  }
}

TEST_F(SeveralStreams, ACallerOnASideStreamSeesGradientsThere) {
  const Tensor w = ones({16}).to(gpu(0)).requires_grad_();
  const Tensor loss = ((w * 2).to(gpu(1)) * 3).sum();
  const cuda::Stream side = cuda::stream_from_pool(0);
  side.wait_stream(cuda::current_stream(0));
  {
    const cuda::StreamGuard on(side);
    loss.backward({}, true);
    loss.backward();  // is added to what is there
    const Tensor twice = w.grad() * 2;
    exec::flush();
  }
  EXPECT_EQ(sim::take_races(), std::vector<std::string>{});
  cuda::current_stream(0).wait_stream(side);
  EXPECT_EQ(values(w.grad()), std::vector<float>(16, 12));
}

// The node that adds to a leaf's gradient was made on a stream that this backward pass does not use.
TEST_F(SeveralStreams, LeavesAreAddedToOnTheCallersStream) {
  const Tensor w = ones({16}).to(gpu(0)).requires_grad_();
  const cuda::Stream early = cuda::stream_from_pool(0), forward = cuda::stream_from_pool(0);
  early.wait_stream(cuda::current_stream(0));
  forward.wait_stream(cuda::current_stream(0));
  Tensor kept, loss;
  {
    const cuda::StreamGuard on(early);
    kept = w * 1;
    exec::flush();
  }
  {
    const cuda::StreamGuard on(forward);
    loss = (w * 2).sum();
  }
  cuda::current_stream(0).wait_stream(forward);
  loss.backward({}, true);
  loss.backward();
  EXPECT_EQ(values(w.grad() * 1), std::vector<float>(16, 4));
}

}  // namespace
}  // namespace argand::autograd
