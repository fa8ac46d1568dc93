#include "argand/nn/modules/normalization.h"

#include "argand/nn/functional/normalization.h"
#include "argand/nn/modules/recorded_test.h"

namespace argand::nn {
namespace {

// run(nn.LayerNorm([2, 2]).double(), pattern([2, 2, 2]))
TEST(LayerNorm, AsPyTorch) {
  LayerNorm m(LayerNormOptions({2, 2}));
  const RunResult r = run(m, pattern({2, 2, 2}));
  expect_values("y", r.y,
                {0.156528542082166, 1.1439171252493, 0.118694291583567, -0.578264271041083, -0.599998720024575,
                 -0.299986560258043, 0.599995520086014, -0.200000639987712});
  expect_values("dx", r.dx,
                {-0.629363592430855, 1.64358594618653, 0.194693971643531, -1.20891632539921, -1.57598044196372,
                 1.03199109128847, 1.16798074925219, -0.623991398576943});
  expect_values("dweight", m->weight.grad(),
                {-0.91306220406603, -0.0869249961797249, 2.71212095036154, 3.63917509241927});
  expect_values("dbias", m->bias.grad(), {3, 3.5, 4, 4.5});
  EXPECT_EQ(printed(*m), "torch::nn::LayerNorm([2, 2], eps=1e-05, elementwise_affine=true)");
}

TEST(LayerNorm, WithoutParameters) {
  LayerNorm m(LayerNormOptions({3}).elementwise_affine(false));
  EXPECT_TRUE(m->parameters().empty());
  expect_values("mean", m(pattern({2, 3})).mean(OptionalIntArrayRef{1}), {0, 0}, 1e-15);
  EXPECT_ERROR(ShapeError, "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2, 4]",
               m(zeros({2, 4})));
}

// run(nn.GroupNorm(2, 4).double(), pattern([1, 4, 2]))
TEST(GroupNorm, AsPyTorch) {
  GroupNorm m(2, 4);
  const RunResult r = run(m, pattern({1, 4, 2}));
  expect_values("y", r.y,
                {0.156528542082166, -0.762611416832866, 0.3560828747507, 1.73479281312325, 0.299999360012288,
                 -0.0999955200860142, -0.599995520086014, -0.200000639987712});
  expect_values("dx", r.dx,
                {-0.136974430242171, -2.06579741882853, 1.08100460570528, 1.12176724336542, 0.983985254724395,
                 -0.0879838213996354, -0.312011058698667, -0.583990374626093});
  expect_values("dweight", m->weight.grad(), {0, 3.1513370019944, -0.999987200245755, 3.19995904078642});
  expect_values("dbias", m->bias.grad(), {3.5, 4.5, 3, 4});
  EXPECT_EQ(printed(*m), "torch::nn::GroupNorm(2, 4, eps=1e-05, affine=true)");
  EXPECT_ERROR(ValueError, "num_channels (4) must be divisible by num_groups (3)", GroupNorm(3, 4));
}

// run(nn.RMSNorm([3], eps=1e-3).double(), pattern([2, 3]))
TEST(RMSNorm, AsPyTorch) {
  RMSNorm m(RMSNormOptions({3}).eps(1e-3));
  const RunResult r = run(m, pattern({2, 3}));
  expect_values("y", r.y,
                {0.765731469777885, 0.191432867444471, -0.191432867444471, -0.61191367241325, 0, -0.305956836206625});
  expect_values("dx", r.dx,
                {-0.0116181170420319, 1.83118375286529, 0.632300499627222, -0.766495958105265, 1.83574101723975,
                 -0.763288222927861});
  expect_values("dweight", m->weight.grad(), {2.14001909492373, 0.638109558148238, -2.37242454949333});
  EXPECT_EQ(printed(*RMSNorm(RMSNormOptions({3}))), "torch::nn::RMSNorm([3], eps=None, elementwise_affine=true)");
}

// Statistics far from zero: E[x^2] - E[x]^2 in float would be noise.
TEST(LayerNorm, SurvivesALargeMean) {
  const Tensor x = pattern({4, 1000}).to(kFloat) + 30000, want = layer_norm(x.to(kDouble), {1000});
  expect_values("y", layer_norm(x, {1000}).flatten(),
                std::vector<double>(want.data_ptr<double>(), want.data_ptr<double>() + 4000), 2e-3);
}

// run(nn.LocalResponseNorm(3, 0.5, 0.6, 2.0), pattern([1, 4, 3])), run(nn.LocalResponseNorm(2, 0.3), pattern([1, 3, 2,
// 2]))
TEST(LocalResponseNorm, AsPyTorch) {
  LocalResponseNorm m(LocalResponseNormOptions(3).alpha(0.5).beta(0.6).k(2));
  const RunResult r = run(m, pattern({1, 4, 3}));
  expect_values("y", r.y,
                {-0.857077517610699, 0.164425194056572, -0.459777974708694, 0.559101203516448, 0, -0.574213660657182,
                 0.454766681946685, -0.162413831835272, -0.673629945208596, 0.317161473977773, -0.324827663670543,
                 -0.838651805274672});
  expect_values(
      "dx", r.dx,
      {0.661155929704144, 1.63402861243785, 0.839621945604713, 1.51868347790942, 1.31132909603388, 0.323393037813955,
       1.30178489708118, 0.960632471342428, 1.18057286412139, 1.18955458939834, 0.621954288002684, 0.942722374721685});
  EXPECT_EQ(printed(*m), "torch::nn::LocalResponseNorm(3, alpha=0.5, beta=0.6, k=2)");
  LocalResponseNorm even(LocalResponseNormOptions(2).alpha(0.3));
  const RunResult of_planes = run(even, pattern({1, 3, 2, 2}));
  expect_values("y of planes", of_planes.y,
                {-1.20606555989626, 0.248256484217117, -0.70579185312069, 0.900485283775324, 0, -0.895018580927221,
                 0.667221520396171, -0.223754645231805, -1.06739379796076, 0.439536343143125, -0.458681951564262,
                 -1.19976389992747});
  expect_values(
      "dx of planes", of_planes.dx,
      {0.499709406436767, 2.49140210757808, 1.48767313376007, 2.23804626442419, 1.60808741319501, 0.887883393112705,
       2.05222368457266, 1.20097846822355, 1.83213416460099, 1.67486480229275, 0.871367941411774, 1.24801426558581});
  EXPECT_ERROR(ShapeError, "Expected 3D or higher dimensionality input (got 2 dimensions)", m(zeros({2, 3})));
  EXPECT_EQ(m(zeros({0, 3, 2})).sizes(), IntArrayRef({0, 3, 2}));
}

TEST(CrossMapLRN2d, AsPyTorch) {
  expect_as_recorded(
      "cross_map_lrn", [] { return CrossMapLRN2d(CrossMapLRN2dOptions(6).alpha(0.5).beta(0.6).k(2)); },
      [](CrossMapLRN2d& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
  EXPECT_EQ(printed(*CrossMapLRN2d(3)), "torch::nn::CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)");
  EXPECT_ERROR(ShapeError, "CrossMapLRN2d: input must be 4D, got 3D", CrossMapLRN2d(3)(zeros({2, 3, 4})));
}

}  // namespace
}  // namespace argand::nn
