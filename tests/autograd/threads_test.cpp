// backward() in several threads at once.
#include <barrier>
#include <thread>

#include "argand/core/cpu_generator.h"
#include "argand/exec/window.h"
#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/modules/container/sequential.h"
#include "argand/nn/modules/dropout.h"
#include "argand/nn/modules/linear.h"
#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

constexpr int kThreads = 4, kRounds = 50;

template <class F>
void in_threads(F f) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([i, &f, &start] {
      exec::set_window_mode(i % 2 ? exec::WindowMode::kAlways : exec::WindowMode::kEager);
      start.arrive_and_wait();
      f(i);
    });
  for (std::thread& t : threads) t.join();
}

TEST(BackwardInThreads, DisjointGraphs) {
  std::vector<Tensor> leaves;
  for (int i = 0; i < kThreads; ++i) leaves.push_back(leaf({50}, i + 1));
  in_threads([&](int me) {
    const Tensor& x = leaves[static_cast<size_t>(me)];
    for (int round = 0; round < kRounds; ++round) (x * x + x).sum().backward();
  });
  for (int i = 0; i < kThreads; ++i)
    EXPECT_TRUE(all_equal(leaves[static_cast<size_t>(i)].grad(), kRounds * (2 * (i + 1) + 1)));
}

TEST(BackwardInThreads, SharedLeaves) {
  const Tensor w = leaf({50}, 2), fresh = leaf({}, 3);
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) (w * w * (me + 1) + fresh).sum().backward();
  });
  EXPECT_TRUE(all_equal(w.grad(), 4 * kRounds * (1 + 2 + 3 + 4)));
  EXPECT_TRUE(all_equal(fresh.grad(), 50 * kRounds * kThreads));
}

TEST(BackwardInThreads, OneGraphThatIsRetained) {
  const Tensor w = leaf({50}, 2), shared = (w * w).exp().log(), loss = (shared * shared.sin().cos().detach()).sum();
  loss.backward({}, true);
  const Tensor once = w.grad().clone();
  w.mutable_grad() = Tensor();
  in_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) loss.backward({}, true);
  });
  EXPECT_TRUE(w.grad().allclose(once * (kThreads * kRounds)));
}

TEST(BackwardInThreads, BranchesOfASharedTrunk) {
  const Tensor w = leaf({20}, 2), trunk = w * 3;
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) (trunk * (me + 1)).sum().backward({}, true);
  });
  EXPECT_TRUE(all_equal(w.grad(), 3 * kRounds * (1 + 2 + 3 + 4)));
}

TEST(BackwardInThreads, GraphsBuiltAndDroppedTogether) {
  const Tensor w = leaf({4}, 2), base = w * 1.0;
  in_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const Tensor y = base.view({2, 2}).exp()[0];
      EXPECT_TRUE(grad({y.sum()}, {base}, {}, true)[0].defined());
    }
  });
}

TEST(BackwardInThreads, HooksComeAndGo) {
  const Tensor w = leaf({8}, 1);
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) {
      if (me % 2) {
        const unsigned hook = w.register_hook([](const Tensor& g) { return g; });
        w.remove_hook(hook);
      } else {
        (w * 2).sum().backward();
      }
    }
  });
  EXPECT_TRUE(all_equal(w.grad(), 2 * kRounds * kThreads / 2));
}

TEST(BackwardInThreads, OneModuleAndOneGenerator) {
  nn::Sequential model(nn::Linear(6, 6), nn::Dropout(0.5), nn::BatchNorm1d(6));
  model->eval();
  nn::Dropout dropout(0.5);
  Generator generator = make_cpu_generator(5);
  std::atomic<int> kept{0};
  in_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const Tensor x = randn({4, 6}, generator);
      model->forward(dropout(x)).sum().backward();
      kept += static_cast<int>((randperm(4, generator) == 0).sum().item<int64_t>());
    }
  });
  EXPECT_EQ(kept, kThreads * kRounds);
  EXPECT_TRUE(all_equal(model->parameters().back().grad(), 4 * kThreads * kRounds));  // a bias: once for each row
}

}  // namespace
}  // namespace argand::autograd
