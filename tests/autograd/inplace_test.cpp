// In-place ops, views and version checks.
#include "tests/autograd/helpers.h"

namespace argand::autograd {
namespace {

TEST(InPlace, ChangesHistory) {
  const Tensor x = leaf({3}, 2), y = x * 1.0;
  y.mul_(x);
  y.add_(1);
  y.sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 4));
}

TEST(InPlace, OnWhatItReads) {
  const Tensor x = leaf({4}, 3);
  Tensor y = x * 1.0;
  y.mul_(y);
  EXPECT_TRUE(all_equal(y, 9));
  y.sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 6)) << "y * y, not y * (y after the write)";
  x.mutable_grad() = Tensor();

  y = x * 1.0;
  EXPECT_MESSAGE("some elements of the input tensor and the written-to tensor refer to a single memory location",
                 y.narrow(0, 1, 3).mul_(y.narrow(0, 0, 3)));
  y.narrow(0, 1, 3).mul_(y.narrow(0, 0, 3).clone());  // y = a, ab, bc, cd of the old values
  y.sum().backward();
  const Tensor expected = tensor({1.0 + 3, 3.0 + 3, 3.0 + 3, 3.0});
  EXPECT_TRUE(x.grad().equal(expected.to(kDouble)));
}

TEST(InPlace, LeafErrors) {
  const Tensor x = leaf({3}, 2);
  EXPECT_MESSAGE("a leaf Variable that requires grad is being used in an in-place operation", x.add_(1));
  EXPECT_MESSAGE("add", x.add_(1));
  EXPECT_MESSAGE("a view of a leaf Variable that requires grad is being used in an in-place operation", x[0].add_(1));
  EXPECT_TRUE(all_equal(x, 2)) << "a refused write writes nothing";
  {
    const NoGradGuard off;
    x.add_(1);
    x[0].add_(0);
  }
  EXPECT_TRUE(all_equal(x, 3));
  EXPECT_TRUE(x.is_leaf());
  Tensor view;
  {
    const NoGradGuard off;
    view = (x * 2).view({3});
  }
  EXPECT_MESSAGE("A view was created in no_grad mode and is being modified inplace with grad mode enabled",
                 view.mul_(x));
  Tensor out = x * 2;
  EXPECT_MESSAGE("functions with out=... arguments don't support automatic differentiation", add_out(out, x, x));
}

TEST(InPlace, VersionErrorsNameTheWriter) {
  const Tensor x = leaf({2, 3}, 2);
  Tensor y = x * 1.0, z = y * y;
  y.relu_();
  EXPECT_MESSAGE("has been modified by an inplace operation", z.sum().backward());
  EXPECT_MESSAGE("float64 and shape [2, 3], saved by MulBackward0, is at version 1; expected version 0",
                 z.sum().backward());
  EXPECT_MESSAGE("'relu'", z.sum().backward());

  y = x * 1.0;
  z = y * y;
  y[0][1].fill_(3);  // through a view of a view
  EXPECT_MESSAGE("'fill_'", z.sum().backward());

  z = x.exp();  // keeps its result
  z.detach().zero_();
  EXPECT_MESSAGE("ExpBackward0", z.sum().backward());

  y = x * 1.0;
  z = y + y;  // keeps nothing of y
  y.mul_(3);
  z.sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 2));
}

TEST(InPlace, OnAViewChangesItsBaseAndItsSiblings) {
  const Tensor x = leaf({4}, 2), w = leaf({}, 5);
  const Tensor base = x * 1.0, row = base.view({2, 2})[1], sibling = base.narrow(0, 2, 2);
  row.mul_(w);
  EXPECT_EQ(base.grad_fn()->name(), "torch::autograd::CopySlices");
  EXPECT_TRUE(all_equal(sibling, 10));
  (sibling.sum() + base.sum() * 10).backward();
  EXPECT_TRUE(x.grad().equal(tensor({10.0, 10.0, 55.0, 55.0}).to(kDouble)));
  EXPECT_TRUE(all_equal(w.grad(), 44));
}

TEST(InPlace, MakesABaseWithoutGradientPartOfTheGraph) {
  const Tensor w = leaf({}, 5), base = ones({2, 2}, kDouble), view = base.t()[0], before = base[0];
  EXPECT_FALSE(base.requires_grad());
  view.mul_(w);
  EXPECT_TRUE(base.requires_grad());
  EXPECT_TRUE(before.requires_grad()) << "a view made earlier follows its base";
  EXPECT_TRUE(view.requires_grad());
  base.sum().backward({}, true);
  EXPECT_TRUE(all_equal(w.grad(), 2));
  before.sum().backward();
  EXPECT_TRUE(all_equal(w.grad(), 3));
}

TEST(InPlace, OnTheBaseChangesItsViews) {
  const Tensor x = leaf({4}, 2), base = x * 1.0, view = base.narrow(0, 1, 2);
  base.mul_(base.detach().clone());
  view.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.0, 2.0, 2.0, 0.0}).to(kDouble)));
}

TEST(InPlace, DoubleBackwardThroughAView) {
  const Tensor x = leaf({3}, 2);
  const Tensor base = x * x;
  base[1].mul_(base[2].detach().clone() * x[0]);
  const Tensor first = grad({base.sum()}, {x}, {}, std::nullopt, true)[0];
  // base.sum() = x0^2 + x1^2 * c * x0 + x2^2 with c = 4
  EXPECT_TRUE(first.detach().equal(tensor({20.0, 32.0, 4.0}).to(kDouble)));
  const Tensor second = grad({first.sum()}, {x})[0];
  EXPECT_TRUE(second.equal(tensor({18.0, 32.0, 2.0}).to(kDouble)));
}

TEST(InPlace, CopyIntoSlices) {
  const Tensor x = leaf({3}, 2);
  const Tensor out = zeros({2, 3}, kDouble);
  out[0].copy_(x * 3);
  out[1].copy_(x);
  out.narrow(1, 1, 1).fill_(0);
  out.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({4.0, 0.0, 4.0}).to(kDouble)));
}

TEST(InPlace, UnderNoGradIsAConstant) {
  const Tensor x = leaf({2}, 2), y = x * 3;
  {
    const NoGradGuard off;
    y.mul_(100);
  }
  y.sum().backward();
  EXPECT_TRUE(all_equal(x.grad(), 3)) << "the write is no part of the graph";
}

TEST(InPlace, DetachInPlaceOfAView) {
  Tensor view = leaf({2}, 2).view({2});
  EXPECT_MESSAGE("Can't detach views in-place. Use detach() instead", view.detach_());
}

// A view made where nothing is recorded says what its base says, but no gradient goes through it to the base.
TEST(InPlace, ViewsMadeWithoutRecording) {
  const Tensor x = leaf({3}, 2), y = x * 1.0;
  Tensor quiet, inferred;
  {
    const NoGradGuard off;
    quiet = y.view({3});
  }
  {
    const InferenceMode inference;
    inferred = x.view({3});
    EXPECT_TRUE(inferred.is_view() && !inferred.is_inference());
  }
  for (const Tensor& view : {quiet, inferred}) {
    EXPECT_TRUE(view.requires_grad() && view.is_leaf());
    EXPECT_TRUE((view * view).requires_grad());
  }
  (inferred * inferred).sum().backward();
  EXPECT_FALSE(x.grad().defined() || inferred.grad().defined());
  EXPECT_MESSAGE("A view was created in no_grad mode and is being modified inplace", quiet.mul_(2));
  EXPECT_MESSAGE("A view was created in inference mode and is being modified inplace", inferred.mul_(2));
  EXPECT_MESSAGE("is a view of a view that was created in inference mode", inferred.view({3}).mul_(2));
  EXPECT_FALSE(inferred.grad_fn());
  Tensor late = x * 1.0;
  {
    const NoGradGuard off;
    quiet = late.view({3});
  }
  late.mul_(2);
  EXPECT_MESSAGE("its base or another view of its base has been modified inplace", quiet.grad_fn());
  const Tensor plain = full({3}, 1.0);
  {
    const NoGradGuard off;
    quiet = plain.view({3});
  }
  EXPECT_FALSE(quiet.requires_grad());
  quiet.mul_(2);
  EXPECT_TRUE(all_equal(plain, 2)) << "nothing to record: nothing to refuse";
}

TEST(InPlace, TensorsOfInferenceModeAloneAreNotRecorded) {
  Tensor t;
  {
    const InferenceMode inference;
    t = leaf({3}, 2);
    const InferenceMode normal(false);
    EXPECT_TRUE(GradMode::is_enabled() && !InferenceMode::is_enabled());
  }
  EXPECT_FALSE((t * t).requires_grad());
  EXPECT_FALSE(t.view({3}).requires_grad());
  (t + leaf({3}, 1)).sum().backward();
  EXPECT_TRUE(all_equal(t.grad(), 1));
}

TEST(InPlace, OutFormsOfWhatRequiresGradAreRefused) {
  const Tensor x = leaf({3}, 2), plain = full({3}, 1.0, kDouble);
  Tensor out = full({3}, 0.0, kDouble);
  EXPECT_MESSAGE("mul: functions with out=... arguments don't support automatic differentiation",
                 mul_out(out, x, plain));
  mul_out(out, x.detach(), plain);
  EXPECT_TRUE(all_equal(out, 2));
  Tensor equal = full({3}, false, kBool);
  eq_out(equal, x, x);
  EXPECT_TRUE(all_equal(equal, 1)) << "it has no gradient";
}

}  // namespace
}  // namespace argand::autograd
