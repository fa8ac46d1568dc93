// Calls are offered under autograd (exec/dispatch_hooks.h): the graph is recorded around what an interceptor gives.
#include "argand/exec/dispatch_hooks.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "argand/base/error.h"
#include "argand/exec/invoke.h"
#include "argand/exec/thread_state.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::exec {
namespace {

// Takes calls of the op `taken` and gives copies of `answer`; declines others.
class Listener final : public Interceptor {
 public:
  bool offer(const OfferedCall& call, std::vector<Tensor>& results) override {
    const DispatchStateGuard off(DispatchHooks::kOff);
    seen.emplace_back(call.op.name);
    below &= DispatchHooks::below_autograd();
    records |= call.records;
    if (std::string(call.op.name) != taken) return false;
    if (call.form == OfferedCall::Form::kPlain)
      results.push_back(answer.clone());
    else
      for (const Tensor& out : call.outs) Tensor(out).copy_(answer);
    return true;
  }
  std::optional<Scalar> read(const Tensor&) override { return number; }
  std::shared_ptr<void> modes() override { return std::make_shared<int>(1); }
  int64_t depth(const Tensor&) override { return 0; }
  std::shared_ptr<void> exchange_modes(std::shared_ptr<void> modes) override {
    const bool were = (DispatchHooks::state & DispatchHooks::kModes) != 0;
    DispatchHooks::state = static_cast<uint8_t>(modes ? DispatchHooks::state | DispatchHooks::kModes
                                                      : DispatchHooks::state & ~DispatchHooks::kModes);
    return were ? std::make_shared<int>(1) : nullptr;
  }
  void share(const Tensor&, const Tensor&) noexcept override {}
  void forget(void*) noexcept override {}

  std::vector<std::string> seen;
  std::string taken;
  Tensor answer;
  std::optional<Scalar> number;
  bool below = true, records = false;
};

// Installs a listener and is a mode while it lives.
struct Listening {
  explicit Listening(Listener& listener) : before(DispatchHooks::interceptor.exchange(&listener)) {}
  ~Listening() { DispatchHooks::interceptor = before; }
  Interceptor* before;
  DispatchStateGuard mode{DispatchHooks::kModes};
};

TEST(DispatchHooks, NothingIsOfferedWithoutAMode) {
  EXPECT_FALSE(DispatchHooks::listens());
  Listener listener;
  {
    const Listening on(listener);
    EXPECT_TRUE(DispatchHooks::listens());
    const DispatchStateGuard off(DispatchHooks::kOff);
    exp(ones({2}));
  }
  EXPECT_TRUE(listener.seen.empty());
  EXPECT_EQ(DispatchHooks::state, 0);
}

TEST(DispatchHooks, TheGraphIsRecordedAroundTheResult) {
  Listener listener;
  listener.taken = "exp";
  listener.answer = full({2}, 5.0);
  Tensor x = ones({2}), y;
  x.set_requires_grad(true);
  {
    const Listening on(listener);
    y = exp(x);
  }
  EXPECT_EQ(listener.seen, std::vector<std::string>{"exp"});
  EXPECT_TRUE(listener.below && listener.records);
  EXPECT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_EQ(x.grad()[0].item().toDouble(), 5);  // the gradient of exp is its result
}

TEST(DispatchHooks, AWriteIsCountedOnce) {
  Listener listener;
  const Tensor x = ones({2});
  const auto before = x._version();
  {
    const Listening on(listener);
    x.add_(1);
  }
  EXPECT_EQ(x._version(), before + 1);
  EXPECT_EQ(x[0].item().toDouble(), 2);
}

TEST(DispatchHooks, WhatAnInterceptorThrowsIsTheCallers) {
  struct Throws : Interceptor {
    bool offer(const OfferedCall&, std::vector<Tensor>&) override { throw ValueError("mine"); }
    std::optional<Scalar> read(const Tensor&) override { return std::nullopt; }
    std::shared_ptr<void> modes() override { return nullptr; }
    std::shared_ptr<void> exchange_modes(std::shared_ptr<void>) override { return nullptr; }
    int64_t depth(const Tensor&) override { return 0; }
    void share(const Tensor&, const Tensor&) noexcept override {}
    void forget(void*) noexcept override {}
  } throws;
  Interceptor* const before = DispatchHooks::interceptor.exchange(&throws);
  const Tensor x = ones({2});
  {
    const DispatchStateGuard mode(DispatchHooks::kModes);
    EXPECT_THROW(exp(x), ValueError);
    EXPECT_THROW(x.add_(1), ValueError);
    EXPECT_FALSE(DispatchHooks::below_autograd());
  }
  DispatchHooks::interceptor = before;
  EXPECT_EQ(x._version(), 0u);
}

TEST(DispatchHooks, NumbersAreAskedFor) {
  Listener listener;
  listener.number = 7.0;
  const Tensor x = ones({});
  {
    const Listening on(listener);
    EXPECT_EQ(x.item().toDouble(), 7);
  }
  EXPECT_EQ(x.item().toDouble(), 1);
}

TEST(DispatchHooks, AThreadThatWorksForAnotherHasItsModes) {
  Listener listener;
  const Listening on(listener);
  const ThreadState caller;
  bool inside = false, after = true;
  std::thread([&] {
    {
      const ThreadState::Scope as_caller(caller);
      inside = DispatchHooks::listens();
    }
    after = DispatchHooks::listens();
  }).join();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(after);
}

}  // namespace
}  // namespace argand::exec
