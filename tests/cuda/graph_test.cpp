// CUDA graphs.
#include "argand/autograd/engine.h"
#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_graph.h"
#include "argand/exec/cuda_memory.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/sgd.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaGraph : public CudaTest {};

const TensorOptions kOnGpu = TensorOptions(kFloat).device(kCUDA);

// A network, its optimizer and static inputs; the same numbers for the same seed.
struct Training {
  explicit Training(bool dropout) : dropout(dropout) {
    manual_seed(5);
    first = nn::Linear(20, 64);
    last = nn::Linear(64, 10);
    for (nn::Linear layer : {first, last}) layer->to(Device(kCUDA));
    optimizer = std::make_unique<optim::SGD>(std::vector<Tensor>{first->weight, first->bias, last->weight, last->bias},
                                             optim::SGDOptions(0.05).momentum(0.9));
    x = empty({32, 20}, kOnGpu);
    target = zeros({32}, TensorOptions(kLong).device(kCUDA));
  }
  void step() {
    optimizer->zero_grad();
    Tensor hidden = first->forward(x).relu();
    if (dropout) hidden = argand::dropout(hidden, 0.3, true);
    loss = cross_entropy_loss(last->forward(hidden), target);
    loss.backward();
    optimizer->step();
  }
  void feed(int64_t i) {
    manual_seed_inputs.manual(i);
    x.copy_(manual_seed_inputs.x);
    target.copy_(manual_seed_inputs.target);
  }
  std::vector<Tensor> values() const {
    return {first->weight.detach().cpu(), first->bias.detach().cpu(), last->weight.detach().cpu(),
            last->bias.detach().cpu(), loss.detach().cpu()};
  }

  struct Inputs {
    Tensor x, target;
    void manual(int64_t i) {
      x = (arange(32 * 20, kFloat).reshape({32, 20}) + i).sin();
      target = (arange(32) * 7 + i).remainder(10);
    }
  } manual_seed_inputs;
  bool dropout;
  nn::Linear first{nullptr}, last{nullptr};
  std::unique_ptr<optim::SGD> optimizer;
  Tensor x, target, loss;
};

void replay_equals_eager(bool dropout, bool compare) {
  constexpr int kWarm = 3, kReplays = 100;
  Training eager(dropout), captured(dropout);
  Generator random = backend_of(kCUDA).default_generator(0);
  random.set_current_seed(11);
  std::vector<std::vector<Tensor>> expected;
  for (int i = 0; i < kWarm + kReplays; ++i) {
    eager.feed(i);
    eager.step();
    if (i >= kWarm) expected.push_back(eager.values());
  }
  random.set_current_seed(11);
  for (int i = 0; i < kWarm; ++i) {
    captured.feed(i);
    captured.step();
  }
  cuda::CUDAGraph graph;
  {
    cuda::GraphCapture capture(graph);
    EXPECT_TRUE(cuda::is_current_stream_capturing());
    captured.step();
    capture.end();
  }
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  for (int i = 0; i < kReplays; ++i) {
    captured.feed(kWarm + i);
    graph.replay();
    if (!compare) continue;
    const std::vector<Tensor> got = captured.values();
    for (size_t p = 0; p < got.size(); ++p)
      ASSERT_TRUE(got[p].equal(expected[static_cast<size_t>(i)][p])) << "value " << p << " after replay " << i;
  }
}

// Fills and copies stand between kernels that start early: windows that overlap add their gradients to a fill's zeros,
// and a copy follows.
TEST_F(CudaGraph, KernelsBesideFillsAndCopies) {
  const Tensor x = (arange(2 * 3 * 9 * 9, kFloat).reshape({2, 3, 9, 9}) * 7).sin().cuda().requires_grad_();
  Tensor out = zeros({2, 3, 9, 9}, kOnGpu);
  const auto run = [&] {
    const Tensor y = max_pool2d(x * 2, {3, 3}, {2, 2});
    out.copy_(autograd::grad({y.pow(2).sum()}, {x})[0]);
    out.mul_(3);
  };
  run();
  const Tensor expected = out.cpu();
  cuda::CUDAGraph graph;
  {
    const cuda::GraphCapture capture(graph);
    run();
  }
  for (int i = 0; i < 3; ++i) {
    out.zero_();
    graph.replay();
    EXPECT_TRUE(!kernels_run() || out.cpu().equal(expected)) << "replay " << i;
  }
}

TEST_F(CudaGraph, AHundredReplaysOfATrainingStepEqualEagerSteps) { replay_equals_eager(false, kernels_run()); }
TEST_F(CudaGraph, EachReplayDrawsTheNumbersOfAnEagerStep) { replay_equals_eager(true, kernels_run()); }

TEST_F(CudaGraph, RandomNumbersGoOnWhereEagerOnesEnd) {
  Generator random = backend_of(kCUDA).default_generator(0);
  Tensor x = empty({1000}, kOnGpu);
  const auto draw = [&] {
    x.uniform_();
    x.add_(empty({1000}, kOnGpu).normal_());
  };
  draw();
  cuda::CUDAGraph graph;
  random.set_current_seed(3);
  const std::vector<uint8_t> before = random.state();
  {
    const cuda::GraphCapture capture(graph);
    draw();
  }
  EXPECT_EQ(random.state(), before) << "a capture draws nothing";
  graph.replay();
  const Tensor first = x.cpu();
  graph.replay();
  const Tensor second = x.cpu();
  const std::vector<uint8_t> after = random.state();
  random.set_state(before);
  draw();
  const Tensor eager_first = x.cpu();
  draw();
  EXPECT_EQ(random.state(), after);
  if (!kernels_run()) return;
  EXPECT_TRUE(first.equal(eager_first));
  EXPECT_TRUE(second.equal(x.cpu()));
  EXPECT_FALSE(first.equal(second));
}

TEST_F(CudaGraph, TwoGraphsShareAPool) {
  Tensor x = zeros({1 << 18}, kOnGpu), between, result;
  const cuda::MempoolId_t pool = cuda::graph_pool_handle();
  EXPECT_NE(pool, cuda::graph_pool_handle());
  const cuda::Stream stream = cuda::stream_from_pool();
  {  // what is made once
    const cuda::StreamGuard on(stream);
    (x * 2).softmax(0);
    cuda::synchronize();
  }
  cuda::empty_cache();
  const int64_t before = cuda::memory_reserved();
  cuda::CUDAGraph first, second;
  {
    const cuda::GraphCapture capture(first, pool, stream);
    between = (x + 1).softmax(0) * (1 << 18);
  }
  const int64_t with_one = cuda::memory_reserved();
  EXPECT_GT(with_one, before);
  {
    const cuda::GraphCapture capture(second, pool, stream);
    result = between + 1;
  }
  EXPECT_EQ(first.pool(), pool);
  EXPECT_EQ(second.pool(), pool);
  EXPECT_EQ(cuda::memory_reserved(), with_one) << "the second uses what the first left free";
  first.replay();
  second.replay();
  if (kernels_run()) {
    EXPECT_NEAR(between[7].item().toDouble(), 1, 1e-4);
    EXPECT_NEAR(result[9].item().toDouble(), 2, 1e-4);
  }
  between = Tensor();
  result = Tensor();
  first.reset();
  cuda::empty_cache();
  EXPECT_GT(cuda::memory_reserved(), before) << "one graph is left";
  second.reset();
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(), before);
}

TEST_F(CudaGraph, WorkAroundAGraphIsInOrder) {
  Tensor x = zeros({1000}, kOnGpu), y;
  (x + 1).sum();
  cuda::CUDAGraph graph;
  {
    const cuda::GraphCapture capture(graph);
    y = x * 2;
  }
  for (int i = 1; i <= 5; ++i) {
    x.add_(1);  // waits in the window; the replay reads it
    graph.replay();
    const Tensor z = y + 1;
    if (kernels_run()) {
      EXPECT_EQ(z[5].item().toFloat(), static_cast<float>(2 * i + 1));
    }
  }
}

TEST_F(CudaGraph, WhatCannotBeCapturedIsSaidAndTheCaptureGoesOn) {
  Tensor x = ones({1000}, kOnGpu), y;
  (x * 3).clone();
  const std::string tail = " is not possible while a CUDA graph is being captured";
  const std::string outside =
      "Event.wait: a CUDA graph that is being captured cannot wait for what is outside of it: the event was recorded "
      "before the capture, or on a stream that is no part of it";
  cuda::Event before;
  before.record();
  cuda::CUDAGraph graph, other;
  {
    cuda::GraphCapture capture(graph);
    const cuda::Stream stream = cuda::current_stream();
    EXPECT_NE(message_of<Error>([&] { x[0].item(); }).find("a copy between host and device" + tail), std::string::npos);
    EXPECT_NE(message_of<Error>([&] { x.cpu(); }).find("a copy between host and device" + tail), std::string::npos);
    EXPECT_EQ(message_of<Error>([] { cuda::synchronize(); }), "cuda::synchronize" + tail);
    EXPECT_EQ(message_of<Error>([&] { stream.synchronize(); }), "Stream.synchronize" + tail);
    EXPECT_EQ(message_of<Error>([&] { stream.query(); }), "Stream.query" + tail);
    cuda::Event inside = stream.record_event();
    EXPECT_EQ(message_of<Error>([&] { inside.query(); }), "Event.query" + tail);
    EXPECT_EQ(message_of<Error>([&] { inside.synchronize(); }), "Event.synchronize" + tail);
    EXPECT_EQ(message_of<Error>([&] { stream.wait_event(before); }), outside);
    EXPECT_EQ(message_of<Error>([&] { stream.wait_stream(cuda::default_stream()); }), outside);
    EXPECT_EQ(message_of<Error>([&] { cuda::default_stream().wait_stream(stream); }),
              "Event.wait: the default stream cannot become part of a CUDA graph that is being captured");
    EXPECT_EQ(message_of<Error>([&] { other.capture_begin(); }),
              "CUDAGraph.capture_begin: the current stream is being captured already");
    EXPECT_EQ(message_of<Error>([&] { graph.replay(); }), "CUDAGraph.replay: the capture has not ended yet");
    y = x * 3;
    capture.end();
  }
  x.fill_(2);
  graph.replay();
  if (kernels_run()) {
    EXPECT_EQ(y[999].item().toFloat(), 6);
  }
}

// ---- several streams in one graph

class CudaGraphStreams : public CudaGraph {
 protected:
  const cuda::Stream side_ = find_backend(kCUDA) ? cuda::stream_from_pool() : cuda::Stream({});
  // Runs `f` on a side stream after the current stream's work, as part of its graph if that stream is captured.
  template <class F>
  void on_side(F f) const {
    const cuda::Stream main = cuda::current_stream();
    side_.wait_stream(main);
    const cuda::StreamGuard on(side_);
    f();
  }
  void join() const { cuda::current_stream().wait_stream(side_); }

  // What `work` gives eagerly for `x`, whose values change, against replays of its capture, on the streams it uses.
  template <class F>
  static void fork_equals_eager(F work) {
    Tensor x = ones({1 << 16}, kOnGpu);
    const auto set = [&](int i) { x.copy_((arange(1 << 16, kOnGpu) + i).sin()); };
    for (int i = 0; i < 2; ++i) work(x);
    cuda::synchronize();
    cuda::CUDAGraph graph;
    Tensor result;
    {
      cuda::GraphCapture capture(graph);
      result = work(x);
      capture.end();
    }
    for (int i = 0; i < 20; ++i) {
      set(i);
      graph.replay();
      const Tensor got = result.clone(), expected = work(x);
      cuda::synchronize();
      if (kernels_run()) {
        ASSERT_TRUE(got.equal(expected)) << "replay " << i;
      }
    }
  }
};

TEST_F(CudaGraphStreams, ForkAndJoin) {
  fork_equals_eager([&](const Tensor& x) {
    Tensor a = x * 2, b, c;
    on_side([&] { b = a.cumsum(0); });
    c = a.exp();
    join();
    return b + c;
  });
}

TEST_F(CudaGraphStreams, TheSideStreamIsPartOfTheCaptureUntilItsEnd) {
  const Tensor x = ones({1000}, kOnGpu);
  (x * 3).clone();
  cuda::CUDAGraph graph;
  Tensor y;
  {
    cuda::GraphCapture capture(graph);
    on_side([&] {
      EXPECT_TRUE(cuda::is_current_stream_capturing());
      EXPECT_NE(message_of<Error>([&] { x.cpu(); }).find("a copy between host and device is not possible"),
                std::string::npos);
      EXPECT_NE(message_of<Error>([&] { side_.synchronize(); }), "");
      y = x * 3;
    });
    join();
    capture.end();
  }
  side_.synchronize();
  const cuda::StreamGuard on(side_);
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  graph.replay();
  EXPECT_EQ((x + 1).sum().item().toFloat(), kernels_run() ? 2000.0F : 0.0F);
  if (kernels_run()) {
    EXPECT_EQ(y[7].item().toFloat(), 3);
  }
}

// Blocks are freed on the host while the other stream still has work for them, and others of their size are made.
TEST_F(CudaGraphStreams, MemoryThatTheSideStreamUsesIsNotGivenAway) {
  fork_equals_eager([&](const Tensor& x) {
    std::vector<Tensor> sums;
    Tensor slow = x;
    for (int i = 0; i < 12; ++i) {
      Tensor temporary = slow + i;
      on_side([&] {
        Tensor t = temporary;
        for (int k = 0; k < 6; ++k) t = t.cumsum(0).tanh();  // slower than what goes on beside it
        sums.push_back(t.sum() + temporary.sum());
      });
      temporary = Tensor();
      slow = (slow * 0.5 + 1).cos();
    }
    join();
    return stack(sums) + slow.sum();
  });
}

TEST_F(CudaGraphStreams, MemoryOfAllStreamsComesFromThePoolAndGoesWithTheGraph) {
  const Tensor x = zeros({1 << 18}, kOnGpu);
  const auto work = [&] {
    Tensor a, b = x.exp();
    on_side([&] { a = (x + 1).softmax(0); });
    join();
    return a + b;
  };
  work();
  cuda::synchronize();
  cuda::empty_cache();
  const int64_t reserved = cuda::memory_reserved(), allocated = cuda::memory_allocated();
  cuda::CUDAGraph graph;
  {
    const cuda::GraphCapture capture(graph, {0, 0}, cuda::stream_from_pool());
    work();
  }
  cuda::synchronize();
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_allocated(), allocated);
  EXPECT_GT(cuda::memory_reserved(), reserved) << "replays write there";
  graph.replay();
  cuda::synchronize();
  graph.reset();
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(), reserved);
}

TEST_F(CudaGraphStreams, RandomNumbersOfAllStreams) {
  Generator random = backend_of(kCUDA).default_generator(0);
  const auto draw = [&] {
    Tensor a = empty({1000}, kOnGpu).uniform_(), b;
    on_side([&] { b = empty({1000}, kOnGpu).normal_(); });
    join();
    return a + b;
  };
  draw();
  cuda::synchronize();
  cuda::CUDAGraph graph;
  Tensor drawn;
  {
    const cuda::GraphCapture capture(graph);
    drawn = draw();
  }
  for (int i = 0; i < 3; ++i) {
    random.set_current_seed(static_cast<uint64_t>(7 + i));
    graph.replay();
    const Tensor got = drawn.cpu();
    random.set_current_seed(static_cast<uint64_t>(7 + i));
    const Tensor expected = draw().cpu();
    if (kernels_run()) {
      EXPECT_TRUE(got.equal(expected)) << i;
    }
  }
}

// Nodes of backward run on the streams of their forward ops, and wait for each other as those did.
TEST_F(CudaGraphStreams, ForwardAndBackwardOfTwoBranches) {
  const Tensor w = linspace(-1, 1, 1 << 16, kOnGpu).requires_grad_();
  fork_equals_eager([&](const Tensor& x) {
    w.mutable_grad() = Tensor();
    Tensor a = x * w, b, c;
    on_side([&] { b = a.tanh().cumsum(0); });
    c = a.sin();
    join();
    (b * c).mean().backward();
    return w.grad().detach().clone();
  });
}

TEST_F(CudaGraphStreams, AStreamThatIsNotJoinedIsAnError) {
  if (!kernels_run()) GTEST_SKIP() << "the dry run does not follow the work of streams";
  const Tensor x = ones({1000}, kOnGpu);
  (x * 3).clone();
  cuda::CUDAGraph graph;
  Tensor y;
  {
    cuda::GraphCapture capture(graph);
    on_side([&] { y = x * 3; });
    EXPECT_NE(message_of<Error>([&] { capture.end(); }).find("call wait_stream() before the end"), std::string::npos);
  }
  EXPECT_NE(message_of<Error>([&] { graph.replay(); }).find("nothing was captured"), std::string::npos);
  const cuda::StreamGuard on(side_);  // is as it was
  EXPECT_EQ((x * 3).sum().item().toFloat(), 3000);
  cuda::synchronize();
}

TEST_F(CudaGraphStreams, AnExceptionEndsTheCaptureOfAllStreams) {
  const int64_t before = cuda::memory_allocated();
  const Tensor x = ones({1000}, kOnGpu);
  (x * 3).clone();
  cuda::CUDAGraph graph;
  try {
    const cuda::GraphCapture capture(graph);
    on_side([&] {
      const Tensor y = x * 3;
      y.cpu();
    });
  } catch (const Error&) {
  }
  const cuda::StreamGuard on(side_);
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  (x * 2).sum().cpu();
  cuda::synchronize();
  EXPECT_EQ(cuda::memory_allocated() - before, 4096);
}

TEST_F(CudaGraph, MisuseIsAnError) {
  cuda::CUDAGraph graph;
  EXPECT_EQ(message_of<Error>([&] { graph.replay(); }),
            "CUDAGraph.replay: nothing was captured, or the capture failed");
  EXPECT_EQ(message_of<Error>([&] { graph.capture_end(); }),
            "CUDAGraph.capture_end: no capture is under way; call capture_begin() first");
  EXPECT_EQ(message_of<Error>([&] { graph.pool(); }), "CUDAGraph.pool: the graph has no memory before capture_begin()");
  EXPECT_EQ(message_of<Error>([&] {
              graph.capture_begin();
            }).find("CUDAGraph.capture_begin: CUDA graphs must be captured on a non-default stream"),
            0u);
  { const cuda::GraphCapture capture(graph); }
  EXPECT_EQ(message_of<Error>([&] { graph.capture_begin(); }),
            "CUDAGraph.capture_begin: the graph holds a capture already; reset() it first");
  graph.replay();
}

TEST_F(CudaGraph, AnExceptionEndsTheCapture) {
  const int64_t before = cuda::memory_allocated();
  cuda::CUDAGraph graph;
  const Tensor x = ones({1000}, kOnGpu);
  (x * 3).clone();
  try {
    const cuda::GraphCapture capture(graph);
    Tensor y = (x * 3).softmax(0);
    y.cpu();
  } catch (const Error&) {
  }
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  cuda::synchronize();
  EXPECT_EQ(cuda::memory_allocated() - before, 4096);
  EXPECT_EQ(message_of<Error>([&] { graph.replay(); }),
            "CUDAGraph.replay: nothing was captured, or the capture failed");
  Tensor y;
  {
    const cuda::GraphCapture capture(graph);
    y = x * 3;
  }
  graph.replay();
  cuda::synchronize();
}

}  // namespace
}  // namespace argand
