// backward() and grad(): what flows where, what is kept, what is an error.
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

TEST(Engine, AccumulatesIntoLeaves) {
  const Tensor x = leaf({3}, 2), y = leaf({3}, 5);
  (x * y).sum().backward();
  (x * y).sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 10));
  EXPECT_TRUE(all_equal(y.grad(), 4));
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Engine, GradIsNotSharedWithAnything) {
  const Tensor a = leaf({2}, 1), b = leaf({2}, 1), given = ones({2}, kDouble);
  (a + b).backward(given);
  EXPECT_FALSE(a.grad().is_alias_of(b.grad()));
  EXPECT_FALSE(a.grad().is_alias_of(given));
  a.grad().mul_(7);
  EXPECT_TRUE(all_equal(b.grad(), 1));
  EXPECT_TRUE(all_equal(given, 1));
  b.backward(given);  // a leaf as root
  EXPECT_TRUE(all_equal(b.grad(), 2));
  EXPECT_TRUE(all_equal(given, 1));
}

TEST(Engine, GradHasShapeAndDtypeOfTheLeaf) {
  const Tensor x = full({3, 1}, 2, kFloat).requires_grad_(), y = leaf({2, 1, 4}, 3);
  (x * y).sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_EQ(x.grad().sizes(), (IntArrayRef{3, 1}));
  EXPECT_TRUE(all_equal(x.grad(), 24));
  EXPECT_TRUE(all_equal(y.grad(), 6));
}

TEST(Engine, SameTensorTwiceAmongRootsAndInputs) {
  const Tensor x = leaf({}, 3), y = x * x;
  const Grads g = grad({y, y}, {x, x, y});
  EXPECT_TRUE(all_equal(g[0], 12));
  EXPECT_TRUE(all_equal(g[1], 12));
  EXPECT_TRUE(all_equal(g[2], 2));
}

TEST(Engine, NodesBehindATargetRunOnlyIfWanted) {
  const Tensor x = leaf({}, 3), y = x * 2, z = y * y;
  int calls = 0;
  x.register_hook([&](Tensor) {
    ++calls;
    return Tensor();
  });
  EXPECT_TRUE(all_equal(grad({z}, {y}, {}, true)[0], 12));
  EXPECT_EQ(calls, 0);
  const Grads both = grad({z}, {y, x});
  EXPECT_TRUE(all_equal(both[0], 12));
  EXPECT_TRUE(all_equal(both[1], 24));
  EXPECT_FALSE(x.grad().defined()) << "grad() leaves .grad alone";
}

TEST(Engine, BackwardWithInputs) {
  const Tensor x = leaf({}, 3), w = leaf({}, 5), y = x * w, z = y * y;
  z.backward({}, true, false, TensorList{x});
  EXPECT_TRUE(all_equal(x.grad(), 150));
  EXPECT_FALSE(w.grad().defined());
  z.backward({}, false, false, TensorList{y});  // as PyTorch: .grad of a tensor that is no leaf
  EXPECT_TRUE(all_equal(y.grad(), 30));
  EXPECT_TRUE(all_equal(x.grad(), 150));
}

TEST(Engine, RetainGraph) {
  const Tensor x = leaf({}, 3), y = x * x;
  y.backward({}, true);
  y.backward();
  EXPECT_TRUE(all_equal(x.grad(), 12));
  EXPECT_MESSAGE("Trying to backward through the graph a second time", y.backward());
  EXPECT_MESSAGE("MulBackward0", y.backward());
  EXPECT_MESSAGE("retain_graph=True", y.backward());
  const Tensor sum = x + x;  // keeps nothing, so nothing is gone
  sum.backward();
  sum.backward();
}

TEST(Engine, CreateGraph) {
  const Tensor x = leaf({}, 2);
  const Tensor first = grad({x * x * x}, {x}, {}, std::nullopt, true)[0];
  EXPECT_TRUE(all_equal(first, 12));
  const Tensor second = grad({first}, {x}, {}, std::nullopt, true)[0];
  EXPECT_TRUE(all_equal(second, 12));
  EXPECT_TRUE(all_equal(grad({second}, {x})[0], 6));
  EXPECT_FALSE(grad({x * x}, {x})[0].requires_grad());

  (x * x).backward({}, std::nullopt, true);
  EXPECT_TRUE(x.grad().requires_grad());
  const Tensor kept = x.grad();
  (x * x).backward({}, std::nullopt, true);
  EXPECT_TRUE(all_equal(kept, 4)) << "a .grad with history is not written in place";
  x.mutable_grad() = Tensor();
}

TEST(Engine, BackwardUnderNoGrad) {
  const Tensor x = leaf({}, 2), y = x * x;
  const NoGradGuard off;
  y.backward();
  EXPECT_TRUE(all_equal(x.grad(), 4));
}

TEST(Engine, Errors) {
  const Tensor x = leaf({2}, 2), plain = ones({2}, kDouble), y = x * x;
  EXPECT_MESSAGE("grad can be implicitly created only for scalar outputs", y.backward());
  EXPECT_MESSAGE("element 0 of tensors does not require grad and does not have a grad_fn", plain.sum().backward());
  EXPECT_MESSAGE("element 1 of tensors does not require grad", backward({y.sum(), plain.sum()}));
  EXPECT_MESSAGE("Mismatch in shape", y.backward(ones({3}, kDouble)));
  EXPECT_MESSAGE("required to have the same dtype", y.backward(ones({2}, kComplexDouble)));
  EXPECT_MESSAGE("got 2 tensors and 1 gradients", backward({y, y}, {ones({2}, kDouble)}));
  EXPECT_MESSAGE("does not require grad", grad({y.sum()}, {plain}));
  const Tensor unused = leaf({}, 1);
  EXPECT_MESSAGE("appears to not have been used in the graph. Set allow_unused=True",
                 grad({y.sum()}, {x, unused}, {}, true));
  const Grads g = grad({y.sum()}, {x, unused}, {}, true, false, true);
  EXPECT_TRUE(all_equal(g[0], 4));
  EXPECT_FALSE(g[1].defined());
  EXPECT_MESSAGE("Only Tensors of floating point and complex dtype can require gradients",
                 ones({2}, kLong).requires_grad_());
  EXPECT_MESSAGE("you can only change requires_grad flags of leaf variables", y.requires_grad_(false));
  EXPECT_TRUE(all_equal(grad({y.sum()}, {x})[0], 4)) << "errors leave the graph usable";
}

TEST(Engine, NoGradDetachAndInference) {
  const Tensor x = leaf({2}, 2);
  {
    const NoGradGuard off;
    EXPECT_FALSE((x * x).requires_grad());
    const EnableGradGuard on;
    EXPECT_TRUE((x * x).requires_grad());
  }
  EXPECT_FALSE(x.detach().requires_grad());
  EXPECT_TRUE(x.detach().is_alias_of(x));
  (x.detach() * x).sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 2));
  Tensor cut = x * x;
  cut.detach_();
  EXPECT_TRUE(cut.is_leaf());
  EXPECT_FALSE(cut.requires_grad());
  Tensor inferred;
  {
    const InferenceMode inference;
    inferred = x * x;
    EXPECT_TRUE(inferred.is_inference());
    EXPECT_FALSE(inferred.requires_grad());
    inferred.add_(1);
  }
  EXPECT_MESSAGE("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
                 inferred.requires_grad_());
  EXPECT_MESSAGE("Inplace update to inference tensor outside InferenceMode is not allowed", inferred.mul_(x));
  EXPECT_TRUE((inferred + x).requires_grad());
  EXPECT_MESSAGE("Inference tensors cannot be saved for backward", inferred * x);
}

TEST(Engine, TheSameBitsOnEveryRun) {
  // One leaf used at many places by terms of very different size: the sum depends on its order.
  const auto run = [] {
    const Tensor x = full({}, 0.1, kFloat).requires_grad_();
    Tensor y = x * 1e-3;
    for (int i = 0; i < 300; ++i) y = y + (x * (i % 7 * 1e-4) + x.exp() * (i % 3 ? 1e4 : 1e-4)).sin();
    y.backward();
    return x.grad().item<float>();
  };
  const float first = run();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(), first);
}

// Square that throws in backward when told to.
struct Thrower : Function<Thrower> {
  static inline bool armed = false;
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (armed) throw std::runtime_error("thrown in backward");
    return {grads[0] * ctx->get_saved_variables()[0] * 2};
  }
};

TEST(Engine, AnExceptionLeavesTheGraphUsable) {
  const Tensor x = leaf({}, 3), w = leaf({}, 2);
  const Tensor y = Thrower::apply(x * w) * w;
  Thrower::armed = true;
  EXPECT_THROW(y.backward({}, true), std::runtime_error);
  EXPECT_THROW(grad({y}, {x}, {}, true), std::runtime_error);
  Thrower::armed = false;
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(all_equal(grad({y}, {x}, {}, true)[0], 48));
  EXPECT_TRUE(GradMode::is_enabled());
}

// Each level's gradient calls backward.
void descend(int levels, const std::function<void()>& at_the_bottom) {
  const AutoGradMode records(true);
  const Tensor x = leaf({1}, 2);
  const Tensor y = x * 3;
  y.register_hook([&](const Tensor& g) {
    levels == 0 ? at_the_bottom() : descend(levels - 1, at_the_bottom);
    return g;
  });
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 3);
}

TEST(BackwardInBackward, AnyDepth) {
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  bool records = true;
  descend(10000, [&] { there = std::this_thread::get_id(), records = GradMode::is_enabled(); });
  EXPECT_NE(there, std::thread::id());
  EXPECT_NE(there, here) << "more than this thread's stack can hold";
  EXPECT_FALSE(records) << "a pass that creates no graph records nothing, in whatever thread";
}

TEST(BackwardInBackward, AnErrorAtTheBottomArrivesAtTheTop) {
  EXPECT_THROW(descend(200, [] { ARGAND_THROW(ValueError, "from below"); }), ValueError);
  descend(0, [] {});
}

TEST(Backward, OfAComplexNumberNeedsAGradient) {
  const Tensor z = leaf({2}, 3).to(kComplexFloat);
  EXPECT_MESSAGE("grad can be implicitly created only for real scalar outputs but got", z.sum().backward());
  EXPECT_MESSAGE("grad can be implicitly created only for real scalar outputs but got", grad(z.sum(), z));
  EXPECT_TRUE(all_equal(real(grad(z.sum(), z, ones({}, TensorOptions(kComplexFloat)))[0]), 1));
}

TEST(Nodes, AreNamedAsLibTorchs) {
  const Tensor x = leaf({1}, 3), constant = ones({1});
  EXPECT_EQ((x + 2).grad_fn()->name(), "AddBackward1");
  EXPECT_EQ((x * 3).grad_fn()->name(), "MulBackward1");
  EXPECT_EQ((x - 1).grad_fn()->name(), "SubBackward1");
  EXPECT_EQ((x + constant).grad_fn()->name(), "AddBackward0");
  EXPECT_EQ((x * x).grad_fn()->name(), "MulBackward0");
  EXPECT_EQ(x.sum().grad_fn()->name(), "SumBackward0");
  EXPECT_EQ(x.sum(0).grad_fn()->name(), "SumBackward1");
  EXPECT_EQ((x + 2).grad_fn()->next_edges()[0].function->name(), "torch::autograd::AccumulateGrad");
}

}  // namespace
}  // namespace argand::autograd
