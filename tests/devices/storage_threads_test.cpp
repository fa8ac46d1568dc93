// First looks at one tensor from several threads: all get the same bytes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

// Runs `f(i)` in some threads that begin together.
template <class F>
void together(int threads, const F& f) {
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      f(i);
    });
  for (std::thread& t : all) t.join();
}

TEST(StorageThreads, FirstLooksAgree) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = empty({4096});
    together(4, [&](int i) { std::fill_n(x.data_ptr<float>() + i * 1024, 1024, 1.0F); });
    ASSERT_EQ(x.sum().item<float>(), 4096) << "round " << round;
  }
}

TEST(StorageThreads, WhatWaitsIsIssuedOnce) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = arange(65536, kFloat) * 2;  // waits in this thread's window
    together(4, [&](int) { EXPECT_EQ(x.sum().item<float>(), (x + 0).sum().item<float>()); });
  }
}

TEST(StorageThreads, HooksComeAndGoWhileGradientsAreMade) {
  const Tensor w = ones({8}).requires_grad_();
  together(4, [&](int i) {
    for (int round = 0; round < 200; ++round) {
      if (i % 2) {
        const unsigned hook = w.register_hook([](const Tensor& g) { return g; });
        w.remove_hook(hook);
      } else {
        (w * 2).sum().backward();
      }
    }
  });
  EXPECT_EQ(w.grad()[0].item<float>(), 2 * 2 * 200);
}

}  // namespace
}  // namespace argand
