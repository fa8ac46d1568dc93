// Graphs of a million nodes: memory, not stack; time that grows as the graph does.
#include <chrono>
#include <thread>

#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kNodes = 100'000;
#else
constexpr int kNodes = 1'000'000;
#endif

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
// Far above what it takes (about 2 us per node), far below what anything quadratic would.
constexpr double kBound = 60;

TEST(GraphSize, Chain) {
  const Tensor x = leaf({}, 1);
  Tensor y = x;
  for (int i = 0; i < kNodes; ++i) y = -y;
  EXPECT_LT(seconds_of([&] { y.backward({}, true); }), kBound);
  EXPECT_TRUE(all_equal(x.grad(), 1));
  EXPECT_LT(seconds_of([&] { all_equal(grad({y}, {x}, {}, true)[0], 1); }), kBound);
  EXPECT_LT(seconds_of([&] { y = Tensor(); }), kBound);
}

TEST(GraphSize, ChainFreedByBackwardAndByOverwriting) {
  const Tensor x = leaf({}, 1);
  Tensor y = x;
  for (int i = 0; i < kNodes / 4; ++i) y = y * 1.0 + x * 0.0;  // saves what it reads
  y.backward();
  EXPECT_TRUE(all_equal(x.grad(), 1));
  for (int i = 0; i < kNodes / 4; ++i) y = y.exp() * 0.0;
}

TEST(GraphSize, Wide) {
  const Tensor x = leaf({}, 1);
  std::vector<Tensor> parts;
  parts.reserve(kNodes);
  for (int i = 0; i < kNodes; ++i) parts.push_back(-x);
  std::vector<Tensor> roots(parts);
  EXPECT_LT(seconds_of([&] { backward(roots); }), kBound);
  EXPECT_TRUE(all_equal(x.grad(), -kNodes));
  EXPECT_LT(seconds_of([&] {
              parts.clear();
              roots.clear();
            }),
            kBound);
}

// A ladder: every node is reached on two ways, one of them much longer; the number of paths is astronomical.
TEST(GraphSize, Ladder) {
  const Tensor x = leaf({}, 0), other = leaf({}, 0);
  Tensor a = x, b = other;
  for (int i = 0; i < kNodes / 8; ++i) {
    const Tensor next = a + b;
    b = a - b;
    a = next;
  }
  EXPECT_LT(seconds_of([&] { grad({a, b}, {x}, {}, true); }), kBound);
  EXPECT_LT(seconds_of([&] { backward({a, b}, {}, true, false, {x}); }), kBound);
  EXPECT_FALSE(other.grad().defined());
}

// Many short side branches beside a long one: the search for what a target needs must not restart for each.
TEST(GraphSize, Comb) {
  const Tensor x = leaf({}, 1), other = leaf({}, 1);
  Tensor spine = x, sum = other * 1.0;
  for (int i = 0; i < kNodes / 8; ++i) {
    spine = spine * 1.0;
    sum = spine.view({1}).view(IntArrayRef()) + sum;
  }
  Tensor g;
  EXPECT_LT(seconds_of([&] { g = grad({sum}, {x})[0]; }), kBound);
  EXPECT_TRUE(all_equal(g, kNodes / 8));
}

TEST(GraphSize, InPlaceWritesToViewsOfOneBase) {
  const Tensor x = leaf({4}, 1);
  const Tensor base = x * 1.0;
  const int n = kNodes / 40;
  for (int i = 0; i < n; ++i) base[i % 4].neg_();
  EXPECT_LT(seconds_of([&] { base.sum().backward(); }), kBound);
  EXPECT_TRUE(all_equal(x.grad(), n / 4 % 2 ? -1 : 1));
}

// A thread has a small stack; a graph dies in the thread that drops it last.
TEST(GraphSize, DiesInAnotherThread) {
  Tensor y = leaf({}, 1);
  for (int i = 0; i < kNodes / 2; ++i) y = -y;
  std::thread([last = std::move(y)]() mutable { last = Tensor(); }).join();
}

// h[t] = f(h[t - 1]): the base's history leads to nodes that keep views of the base.  Dropping it must free it.
TEST(GraphSize, HistoryThatKeepsAViewOfItsOwnBaseIsFreed) {
  const Tensor w = leaf({}, 0.5);
  const Tensor probe = zeros({3}, kDouble);
  const uint32_t before = probe.storage().use_count();
  {
    const Tensor h = zeros({4}, kDouble);
    for (int64_t t = 1; t < 4; ++t) h[t].copy_(h[t - 1] * w + probe.detach().narrow(0, t - 1, 1).squeeze() * w);
  }
  EXPECT_EQ(probe.storage().use_count(), before) << "the graph keeps itself alive";
  {
    const Tensor x = w * 1.0;
    const Tensor y = x * (w * probe.detach());
    x.add_(y.sum());
  }
  EXPECT_EQ(probe.storage().use_count(), before) << "the graph keeps itself alive";
}

}  // namespace
}  // namespace argand::autograd
