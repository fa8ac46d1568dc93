// Tensor hooks and retain_grad.
#include <stdexcept>

#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

TEST(Hooks, RunInOrderAndReplace) {
  const Tensor x = leaf({}, 3), y = x * 2, z = y * y;
  std::string order;
  const unsigned first = y.register_hook([&](Tensor g) {
    order += "a";
    return g * 10;
  });
  y.register_hook([&](const Tensor& g) {
    order += "b";
    EXPECT_TRUE(all_equal(g, 120));
    return Tensor();
  });
  x.register_hook([&](Tensor g) {
    order += "x";
    return g + 1;
  });
  z.backward({}, true);
  EXPECT_EQ(order, "abx");
  EXPECT_TRUE(all_equal(x.grad(), 241));
  EXPECT_TRUE(all_equal(grad({z}, {y}, {}, true)[0], 120)) << "grad() sees what the hooks give";
  y.remove_hook(first);
  EXPECT_MESSAGE("no hook with handle", y.remove_hook(first));
}

TEST(Hooks, OfALeafOutliveItsGraph) {
  const Tensor x = leaf({}, 3);
  int calls = 0;
  const unsigned handle = x.register_hook([&](Tensor g) {
    ++calls;
    return g * 2;
  });
  for (int i = 0; i < 2; ++i) (x * x).backward();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(all_equal(x.grad(), 24));
  const Tensor y = x * x;
  x.remove_hook(handle);
  y.backward();
  EXPECT_EQ(calls, 2);
}

TEST(Hooks, SeeTheSumOfAllThatFlowsIn) {
  const Tensor x = leaf({}, 3), y = x * 1.0;
  int calls = 0;
  y.register_hook([&](const Tensor& g) {
    ++calls;
    EXPECT_TRUE(all_equal(g, 7));
    return Tensor();
  });
  (y * 3 + y * 4).backward();
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, MayRemoveThemselvesAndAddOthers) {
  const Tensor x = leaf({}, 3), y = x * 2;
  int once = 0, added = 0;
  unsigned handle = 0;
  handle = y.register_hook([&](Tensor g) {
    ++once;
    y.remove_hook(handle);
    for (int i = 0; i < 8; ++i)
      y.register_hook([&](Tensor) {
        ++added;
        return Tensor();
      });
    return g * 2;
  });
  y.register_hook([&](Tensor g) { return g * 3; });
  y.backward({}, true);
  EXPECT_TRUE(all_equal(x.grad(), 12)) << "all hooks there were ran";
  EXPECT_EQ(added, 0) << "hooks added by a hook see the next backward";
  y.backward({}, true);
  EXPECT_EQ(once, 1);
  EXPECT_EQ(added, 8);
}

TEST(Hooks, RunInTheGradModeOfBackward) {
  const Tensor x = leaf({}, 3), w = leaf({}, 5), y = x * 2;
  std::vector<bool> modes;
  y.register_hook([&](Tensor g) {
    modes.push_back(GradMode::is_enabled());
    return g * w;
  });
  y.backward({}, true);
  EXPECT_FALSE(x.grad().requires_grad());
  const Tensor g = grad({y}, {x}, {}, true, true)[0];
  EXPECT_TRUE(g.requires_grad());
  EXPECT_EQ(modes, (std::vector<bool>{false, true}));
}

TEST(Hooks, ThatThrowLeaveTheGraphUsable) {
  const Tensor x = leaf({}, 3), y = x * x;
  const unsigned handle = y.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("hook"); });
  EXPECT_THROW(y.backward(), std::runtime_error);
  y.remove_hook(handle);
  y.backward();
  EXPECT_TRUE(all_equal(x.grad(), 6));
}

TEST(Hooks, NestedBackward) {
  const Tensor x = leaf({}, 3), w = leaf({}, 2), y = x * 2;
  Tensor inner;
  y.register_hook([&](const Tensor&) {
    const EnableGradGuard on;
    (w * w * w).backward();
    inner = grad({x * x}, {x})[0];
    return Tensor();
  });
  y.backward();
  EXPECT_TRUE(all_equal(w.grad(), 12));
  EXPECT_TRUE(all_equal(inner, 6));
  EXPECT_TRUE(all_equal(x.grad(), 2));
}

TEST(Hooks, Errors) {
  EXPECT_MESSAGE("cannot register a hook on a tensor that doesn't require gradient",
                 ones({2}).register_hook([](Tensor g) { return g; }));
  EXPECT_MESSAGE("can't retain_grad on Tensor that has requires_grad=False", ones({2}).retain_grad());
  const auto with_hook = [](const Tensor& of, const Tensor& result) {
    of.register_hook([result](const Tensor&) { return result; });
    return of;
  };
  EXPECT_MESSAGE("a hook on a result of MulBackward1 has changed the size of value (was [] got [2, 2])",
                 with_hook(leaf({}, 3) * 2, ones({2, 2}, kDouble)).backward());
  EXPECT_MESSAGE("a hook on a result of MulBackward1 has changed the type of value (was float64 got float32)",
                 with_hook(leaf({}, 3) * 2, ones({}, kFloat)).backward());
  EXPECT_MESSAGE("a hook on a result of torch::autograd::AccumulateGrad has changed the type of value",
                 (with_hook(leaf({}, 3), ones({}, kComplexDouble)) * 2).backward());
  EXPECT_MESSAGE("a hook on a result of MulBackward1 has changed the device of value (was cpu got meta)",
                 with_hook(leaf({}, 3) * 2, empty({}, TensorOptions(kDouble).device(kMeta))).backward());
}

TEST(RetainGrad, KeepsTheGradientOfWhatIsNoLeaf) {
  const Tensor x = leaf({2}, 3), y = x * x;
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  y.sum().backward({}, true);
  EXPECT_TRUE(all_equal(y.grad(), 1));
  y.sum().backward();
  EXPECT_TRUE(all_equal(y.grad(), 2));
}

TEST(RetainGrad, SeesWhatHooksGiveWheneverTheyCame) {
  const Tensor x = leaf({}, 3), y = x * x;
  y.retain_grad();
  y.register_hook([](Tensor g) { return g * 5; });
  y.backward();
  EXPECT_TRUE(all_equal(y.grad(), 5));
}

TEST(RetainGrad, OfATensorThatIsGone) {
  const Tensor x = leaf({2}, 3);
  Tensor y = x + 1;
  y.retain_grad();
  const Tensor z = (y + 1).sum();
  y = Tensor();
  z.backward();
  EXPECT_TRUE(all_equal(x.grad(), 1));
}

TEST(RetainGrad, FollowsTheTensorThroughAnInPlaceOp) {
  const Tensor x = leaf({}, 3), y = x * 2;
  y.retain_grad();
  y.mul_(5);
  (y * 7).backward();
  EXPECT_TRUE(all_equal(y.grad(), 7)) << "the gradient of the value it has now";
  EXPECT_TRUE(all_equal(x.grad(), 70));
}

TEST(Hooks, MayReturnNothing) {
  const Tensor x = leaf({}, 3), y = x * 2;
  double seen = 0;
  y.register_hook([&](const Tensor& g) { seen = g.item<double>(); });
  (y * y).backward();
  EXPECT_EQ(seen, 12);
  EXPECT_TRUE(all_equal(x.grad(), 24));
}

TEST(Hooks, NodesCanBeHeldByASharedPtr) {
  std::shared_ptr<Node> node;
  {
    const Tensor y = leaf({}, 3) * 2;
    node = y.grad_fn();
    EXPECT_EQ(node.get(), y.grad_fn().get());
  }
  EXPECT_EQ(node->name(), "MulBackward1") << "it is alive as long as the pointer";
  node = leaf({}, 3).grad_fn();
  EXPECT_EQ(node, nullptr);
}

}  // namespace
}  // namespace argand::autograd
