// Windows of several threads that really run at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <thread>

#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

constexpr int kThreads = 4;

// Runs f(thread) in kThreads threads whose windows always wait.
template <class F>
void in_threads(F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([i, &f] {
      exec::set_window_mode(exec::WindowMode::kAlways);
      f(i);
    });
  for (std::thread& t : threads) t.join();
}

// Instructions that only read the same storage may be pushed at the same moment; all of them happen before a write
// that comes after all of them.
TEST(WindowThreads, ReadersOfOneTensorArePendingTogether) {
  constexpr int kRounds = 3000;
  std::barrier meet(kThreads);
  const Tensor shared = zeros({4});
  std::atomic<int> wrong{0};
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) {
      meet.arrive_and_wait();
      const Tensor mine = shared + me;
      meet.arrive_and_wait();
      if (me == round % kThreads) shared.add_(1);
      meet.arrive_and_wait();
      if (mine[0].item<float>() != static_cast<float>(round + me)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0) << "results of a pending read that saw a later write";
  EXPECT_EQ(shared[3].item<float>(), kRounds);
}

TEST(WindowThreads, FirstLooksAtAStorageAgree) {
  constexpr int kRounds = 2000;
  std::barrier meet(kThreads);
  Tensor shared;
  std::atomic<int> wrong{0};
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) {
      if (me == 0) shared = empty({kThreads * 1024});
      meet.arrive_and_wait();
      std::fill_n(shared.data_ptr<float>() + me * 1024, 1024, 1.0F);  // none has bytes before the first of these looks
      meet.arrive_and_wait();
      if (me == 0 && shared.sum().item<float>() != kThreads * 1024) ++wrong;
      meet.arrive_and_wait();
    }
  });
  EXPECT_EQ(wrong, 0) << "threads got bytes of their own, and their writes were lost";
}

TEST(WindowThreads, ResultsOfAThreadThatEnded) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> results(kThreads);
    const Tensor shared = full({3000}, 2);
    in_threads([&](int me) {
      // The first sum issues something, so that all that issuing needs exists before the last instructions wait.
      const double sum = (shared * me).sum().item<double>();
      results[static_cast<size_t>(me)] = (shared + sum).sin() * 0 + me;
    });
    for (int me = 0; me < kThreads; ++me) EXPECT_EQ(results[static_cast<size_t>(me)].sum().item<double>(), 3000.0 * me);
  }
}

// Each thread works on what its neighbour made, in rounds: every hand-over is a flush of a foreign window.
TEST(WindowThreads, HandOver) {
  constexpr int kRounds = 300;
  std::barrier meet(kThreads);
  std::vector<Tensor> held(kThreads);
  for (int i = 0; i < kThreads; ++i) held[static_cast<size_t>(i)] = full({100}, i, kDouble);
  in_threads([&](int me) {
    for (int round = 0; round < kRounds; ++round) {
      const size_t from = static_cast<size_t>(me + round) % kThreads;
      held[from] = held[from] * 0.5 + me;
      held[from].narrow(0, 3, 40).add_(held[from].narrow(0, 50, 40));
      meet.arrive_and_wait();
    }
  });
  for (int i = 0; i < kThreads; ++i) {
    Tensor expected = full({100}, i, kDouble);
    for (int round = 0; round < kRounds; ++round) {
      const int me = (i - round % kThreads + kThreads) % kThreads;
      expected = expected * 0.5 + me;
      expected.narrow(0, 3, 40).add_(expected.narrow(0, 50, 40));
    }
    EXPECT_TRUE(expected.equal(held[static_cast<size_t>(i)])) << i;
  }
}

}  // namespace
}  // namespace argand
