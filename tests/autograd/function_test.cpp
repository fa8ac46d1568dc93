// Functions with a gradient of one's own.
#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

struct Scale : Function<Scale> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double by, const std::optional<Tensor>& plus) {
    EXPECT_FALSE(GradMode::is_enabled());
    ctx->saved_data["by"] = by;
    return plus ? x * by + *plus : x * by;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Tensor plus = ctx->needs_input_grad(1) ? grads[0] : Tensor();
    return {grads[0] * ctx->saved_data["by"].toDouble(), Tensor(), plus};
  }
};

TEST(CustomFunction, ArgumentsThatAreNoTensors) {
  const Tensor x = leaf({2}, 3), p = leaf({2}, 1);
  Scale::apply(x, 4.0, std::nullopt).sum().backward();
  Scale::apply(x, 4.0, std::optional<Tensor>(p)).sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 8));
  EXPECT_TRUE(all_equal(p.grad(), 1));
  EXPECT_EQ(Scale::apply(x, 1.0, std::nullopt).grad_fn()->name(),
            "torch::autograd::CppNode<argand::autograd::(anonymous namespace)::Scale>");
  EXPECT_FALSE(Scale::apply(x.detach(), 1.0, std::nullopt).requires_grad());
  const NoGradGuard off;
  EXPECT_FALSE(Scale::apply(x, 1.0, std::nullopt).requires_grad());
}

struct ExpAndSign : Function<ExpAndSign> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor e = x.exp(), s = x.sign();
    ctx->save_for_backward({e});
    ctx->mark_non_differentiable({s});
    return {e, s};
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

TEST(CustomFunction, SavedResultsAndNonDifferentiableOnes) {
  const Tensor x = leaf({2}, 0);
  variable_list out = ExpAndSign::apply(x);
  EXPECT_TRUE(out[0].requires_grad());
  EXPECT_FALSE(out[1].requires_grad());
  const Tensor first = grad({out[0].sum()}, {x}, {}, true, true)[0];
  EXPECT_TRUE(all_equal(grad({first.sum()}, {x})[0], 1)) << "the saved result has its history";
  out = ExpAndSign::apply(x);
  out[0].sum().backward();
  EXPECT_MESSAGE("Trying to backward through the graph a second time", out[0].sum().backward());
  out = ExpAndSign::apply(x);
  out[0].detach().mul_(2);
  EXPECT_MESSAGE("ExpAndSign>", out[0].sum().backward());
  EXPECT_MESSAGE("'mul'", out[0].sum().backward());
}

struct DoubleInPlace : Function<DoubleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {grads[0] * 2}; }
};

TEST(CustomFunction, MarkDirty) {
  const Tensor x = leaf({2, 2}, 3), y = x * 1.0;
  const Tensor z = DoubleInPlace::apply(y);
  EXPECT_TRUE(z.is_same(y));
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CppNode<argand::autograd::(anonymous namespace)::DoubleInPlace>");
  y.sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 2));
  x.mutable_grad() = Tensor();
  const Tensor base = x * 1.0;
  DoubleInPlace::apply(base[0]);
  base.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({2.0, 2.0, 1.0, 1.0}).to(kDouble).view({2, 2})));
  EXPECT_MESSAGE("a leaf Variable that requires grad is being used in an in-place operation", DoubleInPlace::apply(x));
}

struct Identity : Function<Identity> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {grads[0] * 10}; }
};

TEST(CustomFunction, ReturnsItsInput) {
  const Tensor x = leaf({}, 3), y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(x.is_leaf());
  y.backward();
  EXPECT_TRUE(all_equal(x.grad(), 10));
}

template <int kWrong>
struct Wrong : Function<Wrong<kWrong>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int) {
    if (kWrong == 3) ctx->mark_dirty({x});
    return x * 2;
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    if (kWrong == 0) return {};
    if (kWrong == 1) return {grads[0], grads[0]};
    return {ones({5}, kDouble), Tensor()};
  }
};

TEST(CustomFunction, Errors) {
  const Tensor x = leaf({2}, 3);
  EXPECT_MESSAGE("returned an incorrect number of gradients (expected 2, got 0)",
                 Wrong<0>::apply(x, 1).sum().backward());
  EXPECT_MESSAGE("returned a gradient different from None at position 2", Wrong<1>::apply(x, 1).sum().backward());
  EXPECT_MESSAGE("returned an invalid gradient, got [5] but expected shape compatible with [2]",
                 Wrong<2>::apply(x, 1).sum().backward());
  EXPECT_MESSAGE("were not returned as output", Wrong<3>::apply(x, 1));
}

struct TwoResults : Function<TwoResults> {
  static inline bool materialize = true, second_defined = false;
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    ctx->set_materialize_grads(materialize);
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    second_defined = grads[1].defined();
    return {grads[0] * 2};
  }
};

TEST(CustomFunction, MaterializeGrads) {
  const Tensor x = leaf({2}, 3);
  TwoResults::apply(x)[0].sum().backward();
  EXPECT_TRUE(TwoResults::second_defined);
  TwoResults::materialize = false;
  TwoResults::apply(x)[0].sum().backward();
  EXPECT_FALSE(TwoResults::second_defined);
  EXPECT_TRUE(all_equal(x.grad(), 4));
}

// Recomputes its inner function in backward, as checkpointing does: a backward within a backward.
struct Checkpoint : Function<Checkpoint> {
  static Tensor inner(const Tensor& x) { return (x * x).sin() * x; }
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return inner(x);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    const EnableGradGuard on;
    autograd::backward({inner(x)}, {grads[0]});
    return {x.grad()};
  }
};

TEST(CustomFunction, NestedBackward) {
  const Tensor x = leaf({3}, 0.3), plain = leaf({3}, 0.3);
  Tensor y = x, z = plain;
  for (int i = 0; i < 4; ++i) {
    y = Checkpoint::apply(y);
    z = Checkpoint::inner(z);
  }
  y.sum().backward();
  z.sum().backward();
  EXPECT_TRUE(x.grad().equal(plain.grad()));
}

struct FirstHasNoGradient : Function<FirstHasNoGradient> {
  static variable_list forward(AutogradContext* ctx, const Variable& x) {
    const Variable a = x + 1, b = x + 2;
    ctx->mark_non_differentiable({a});
    return {a, b};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    EXPECT_TRUE(all_equal(g[0], 0));
    EXPECT_TRUE(all_equal(g[1], 3));
    return {g[1]};
  }
};

TEST(Function, ResultsWithoutGradientAreCounted) {
  const Tensor x = leaf({2}, 1);
  const auto out = FirstHasNoGradient::apply(x);
  EXPECT_FALSE(out[0].requires_grad());
  out[1].backward(full({2}, 3, kDouble));
  EXPECT_TRUE(all_equal(x.grad(), 3));
}

struct ThroughThePointer : Function<ThroughThePointer> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

TEST(Function, WhatIsMarkedDirtyHasANewVersion) {
  const Tensor x = leaf({2}, 1).clone();
  const auto before = x._version();
  ThroughThePointer::apply(x);
  EXPECT_GT(x._version(), before);
}

TEST(Backward, WithoutInputsIsAnError) {
  const Tensor x = leaf({}, 1), y = x * 2;
  EXPECT_MESSAGE("grad requires non-empty inputs.", grad({y}, {}));
  EXPECT_MESSAGE("'inputs' argument to backward cannot be empty", y.backward({}, false, false, TensorList()));
}

}  // namespace
}  // namespace argand::autograd
