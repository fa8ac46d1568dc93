#include "argand/nn/modules/linear.h"

#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// run(nn.Linear(3, 2).double(), pattern([2, 3]))
TEST(Linear, AsPyTorch) {
  Linear m(3, 2);
  const RunResult r = run(m, pattern({2, 3}));
  expect_values("y", r.y, {0.25, 1, -1.25, 0});
  expect_values("dx", r.dx, {-1.125, 3.25, 1.5, -1.5, 4.125, 1.875});
  expect_values("dweight", m->weight.grad(), {0, 0.25, -2.25, -0.75, 0.625, -4.875});
  expect_values("dbias", m->bias.grad(), {2.5, 5.5});
  EXPECT_EQ(printed(*m), "torch::nn::Linear(in_features=3, out_features=2, bias=true)");
  EXPECT_FALSE(Linear(LinearOptions(3, 2).bias(false))->bias.defined());
  EXPECT_ERROR(ValueError, "Linear: expected in_features and out_features of at least 0, got -1 and 3", Linear(-1, 3));
}

// m = nn.Bilinear(2, 3, 2).double() with the parameters of run(); m(pattern([2, 2]), pattern([2, 3], 5))
TEST(Bilinear, AsPyTorch) {
  Bilinear m(2, 3, 2);
  m->to(kDouble);
  for (const Tensor& p : m->parameters()) p.set_data(pattern(p.sizes(), 5, 7, -0.5, 0.25));
  expect_values("y", m(pattern({2, 2}), pattern({2, 3}, 5)), {-1.5625, -0.390625, -0.46875, 0.390625});
  EXPECT_ERROR(ShapeError, "expected inputs of 2 and 3 features, got 2 and 2", m(zeros({2, 2}), zeros({2, 2})));
  EXPECT_ERROR(ValueError, "Bilinear: expected in1_features > 0, and in2_features and", Bilinear(2, -3, 2));
}

TEST(Flatten, AndUnflatten) {
  const Tensor x = pattern({2, 3, 4, 5});
  EXPECT_EQ(str(Flatten()(x).sizes()), "[2, 60]");
  EXPECT_EQ(str(Flatten(FlattenOptions().start_dim(0).end_dim(1))(x).sizes()), "[6, 4, 5]");
  EXPECT_TRUE(equal(Unflatten(1, std::vector<int64_t>{3, 4, 5})(Flatten()(x)), x));
  EXPECT_TRUE(Identity()(x).is_same(x));
}

}  // namespace
}  // namespace argand::nn
