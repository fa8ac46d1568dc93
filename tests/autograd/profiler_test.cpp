// What a profiler sees of ops: names, nesting, arguments, nodes of the backward pass; and that results stay the same.
#include "argand/exec/profiler.h"

#include <gtest/gtest.h>

#include <thread>

#include "argand/argand.h"
#include "argand/exec/window.h"

namespace argand {
namespace {

using profiler::Recorded;
using profiler::RecordedEvent;
using profiler::Session;

std::vector<std::string> names_of(const Recorded& r, int64_t parent = -1) {
  std::vector<std::string> out;
  for (const RecordedEvent& e : r.events)
    if (e.parent == parent) out.push_back(e.name);
  return out;
}
using Names = std::vector<std::string>;

int64_t index_of(const Recorded& r, std::string_view name) {
  for (size_t i = 0; i < r.events.size(); ++i)
    if (r.events[i].name == name) return static_cast<int64_t>(i);
  throw ValueError("no event " + std::string(name));
}
const RecordedEvent& event_of(const Recorded& r, std::string_view name) {
  return r.events[static_cast<size_t>(index_of(r, name))];
}

TEST(ProfiledOps, EveryFormOfACallIsOneEvent) {
  Tensor a = ones({2, 3}), b = ones({3, 4}), out = empty({2, 3});
  Session session({});
  a.mul(2);
  a.add_(1);
  add_out(out, a, a);
  mm(a, b);
  a.t();
  a.zero_();
  EXPECT_EQ(names_of(session.stop()),
            (Names{"aten::mul", "aten::add_", "aten::add", "aten::mm", "aten::t", "aten::zero_"}));
}

TEST(ProfiledOps, WhatACompositeIsMadeOfLiesWithinIt) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  Session session({});
  matmul(a, b);
  const Recorded r = session.stop();
  EXPECT_EQ(names_of(r), Names{"aten::matmul"});
  EXPECT_EQ(names_of(r, 0), Names{"aten::mm"});
}

TEST(ProfiledOps, Arguments) {
  const Tensor a = ones({2, 3}), b = ones({4, 3}, kDouble);
  Session session({.shapes = true});
  cat({a, b}, 0);
  a.sum({1}, true);
  const Recorded r = session.stop();
  const auto& list = event_of(r, "aten::cat").arguments;
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].type, "TensorList");
  EXPECT_EQ(list[0].shapes, (std::vector<Dims>{{2, 3}, {4, 3}}));
  EXPECT_EQ(list[1].type, "Scalar");
  EXPECT_EQ(list[1].value, "0");
  const auto& sum = event_of(r, "aten::sum").arguments;
  EXPECT_EQ(sum.at(0).type, "float32");
  EXPECT_EQ(sum.at(0).strides, (std::vector<Dims>{{3, 1}}));
  EXPECT_EQ(sum.at(1).value, "[1]");
  EXPECT_EQ(sum.at(2).value, "True");
}

TEST(ProfiledOps, BackwardNodesKnowTheirForwardOps) {
  const Tensor w = ones({3}).requires_grad_();
  Session session({.shapes = true});
  const Tensor loss = w.exp().sum();
  loss.backward();
  const Recorded r = session.stop();
  const RecordedEvent& node = event_of(r, "ExpBackward0");
  EXPECT_EQ(node.scope, profiler::Scope::kBackwardFunction);
  EXPECT_EQ(node.sequence, event_of(r, "aten::exp").sequence);
  EXPECT_GE(node.sequence, 0);
  EXPECT_EQ(node.arguments.at(0).shapes, (std::vector<Dims>{{3}}));
  const RecordedEvent& around = r.events[static_cast<size_t>(node.parent)];
  EXPECT_EQ(around.name, "autograd::engine::evaluate_function: ExpBackward0");
  EXPECT_EQ(names_of(r, index_of(r, "ExpBackward0")), (Names{"aten::conj", "aten::mul"}));
  EXPECT_EQ(event_of(r, "torch::autograd::AccumulateGrad").sequence, -1);
}

// Note [Profiling]: a large op does its work, and gets its memory, within its own span.
TEST(ProfiledOps, NothingWaitsInTheWindow) {
  const Tensor a = ones({64 * 1024});
  const uint64_t before = exec::window_stats().instructions;
  Session session({.memory = true});
  const Tensor b = a * 2;
  const Tensor c = b + 1;
  const Recorded r = session.stop();
  EXPECT_EQ(exec::window_stats().instructions, before);
  EXPECT_EQ(event_of(r, "aten::mul").cpu_bytes, 4 * 64 * 1024);
  EXPECT_EQ(event_of(r, "aten::add").cpu_bytes, 4 * 64 * 1024);
  const Tensor d = c + 1;
  EXPECT_EQ(exec::window_stats().instructions, before + 1);
  EXPECT_EQ(d[0].item<float>(), 4);
}

TEST(ProfiledOps, ErrorsEndTheirSpans) {
  Session session({});
  EXPECT_THROW(mm(ones({2, 3}), ones({2, 3})), ShapeError);
  ones({1});
  const Recorded r = session.stop();
  EXPECT_EQ(event_of(r, "aten::mm").parent, -1);
  for (const RecordedEvent& e : r.events)
    EXPECT_FALSE(e.parent >= 0 && r.events[static_cast<size_t>(e.parent)].name == "aten::mm") << e.name;
}

// For the thread sanitizer: passes on several threads.
TEST(ProfiledOps, OfAllThreads) {
  const Tensor w = ones({8, 8}).requires_grad_();
  Session session({.shapes = true, .memory = true});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const profiler::Span range("thread", profiler::Scope::kUser);
      for (int i = 0; i < 20; ++i) mm(w, w).sum().backward();
    });
  for (std::thread& t : threads) t.join();
  const Recorded r = session.stop();
  int mm_calls = 0;
  std::vector<int> seen(r.system_threads.size() + 1);
  for (const RecordedEvent& e : r.events) {
    mm_calls += e.name == "MmBackward0";
    if (e.name == "thread") ++seen[static_cast<size_t>(e.thread)];
    EXPECT_TRUE(e.parent < 0 || r.events[static_cast<size_t>(e.parent)].thread == e.thread) << e.name;
  }
  EXPECT_EQ(mm_calls, 60);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 3);
}

}  // namespace
}  // namespace argand
