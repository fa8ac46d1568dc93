// Functions and initialisers without a module of their own.
#include "argand/nn/functional.h"

#include <gtest/gtest.h>

#include "argand/core/cpu_generator.h"
#include "argand/nn/init.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

namespace F = functional;

template <class E, class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

TEST(GridSample, SeesTheImageWhereTheGridSays) {
  const Tensor image = arange(9).to(kFloat).view({1, 1, 3, 3});
  const Tensor identity = tensor({{{1.F, 0.F, 0.F}, {0.F, 1.F, 0.F}}});
  for (bool align : {false, true}) {
    const Tensor grid = F::affine_grid(identity, {1, 1, 3, 3}, align);
    const auto options = F::GridSampleFuncOptions().align_corners(align);
    EXPECT_TRUE(allclose(F::grid_sample(image, grid, options), image));
    // One element to the right: what is not there is as the padding says.
    const Tensor step = tensor({align ? 1.F : 2.F / 3, 0.F});
    const auto right = [&](F::GridSampleFuncOptions o) { return F::grid_sample(image, grid + step, o)[0][0]; };
    EXPECT_TRUE(allclose(right(options), tensor({{1.F, 2.F, 0.F}, {4.F, 5.F, 0.F}, {7.F, 8.F, 0.F}}), 1e-4, 1e-4));
    EXPECT_TRUE(allclose(right(F::GridSampleFuncOptions(options).padding_mode(kBorder)).select(1, 2),
                         tensor({2.F, 5.F, 8.F}), 1e-4, 1e-4));
    EXPECT_TRUE(
        allclose(right(F::GridSampleFuncOptions(options).mode(kNearest)).select(1, 0), tensor({1.F, 4.F, 7.F})));
  }
}

TEST(AffineGrid, SaysWhatDoesNotFit) {
  EXPECT_EQ(message<DtypeError>([] {
              F::affine_grid(zeros({1, 2, 3}, kInt), {1, 1, 2, 2});
            }),
            "Expected theta to have floating point type, but got int32");
  EXPECT_EQ(message<ShapeError>([] {
              F::affine_grid(zeros({2, 3}), {1, 1, 2, 2});
            }),
            "Expected a batch of 2D affine matrices of shape Nx2x3 for size [1, 1, 2, 2]. Got [2, 3].");
  EXPECT_EQ(message<ValueError>([] {
              F::affine_grid(zeros({1, 2, 3}), {1, 1, 0, 2});
            }),
            "Expected non-zero, positive output size. Got [1, 1, 0, 2]");
  EXPECT_EQ(
      message<ValueError>([] {
        F::affine_grid(zeros({1, 2, 3}), {1, 1});
      }),
      "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size [1, 1]");
}

TEST(GumbelSoftmax, ChoosesOneAndHasTheGradientOfTheSoftOne) {
  manual_seed(3);
  const Tensor logits = randn({200, 4}).requires_grad_();
  const Tensor soft = F::gumbel_softmax(logits, F::GumbelSoftmaxFuncOptions().tau(0.5));
  EXPECT_TRUE(allclose(soft.sum(-1), ones({200})));
  manual_seed(4);
  const Tensor hard = F::gumbel_softmax(logits, F::GumbelSoftmaxFuncOptions().hard(true));
  EXPECT_TRUE(allclose(std::get<0>(hard.max(-1)), ones({200})));
  EXPECT_TRUE(allclose(hard.sum(-1), ones({200})));
  hard.select(1, 0).sum().backward();
  EXPECT_GT(logits.grad().abs().sum().item<float>(), 0);
}

TEST(Pdist, IsTheUpperTriangleOfCdist) {
  const Tensor x = randn({4, 3});
  const Tensor all = cdist(x, x), pairs = triu_indices(4, 4, 1);
  EXPECT_TRUE(allclose(F::pdist(x), all.index({pairs[0], pairs[1]})));
  EXPECT_EQ(F::pdist(zeros({1, 3})).numel(), 0);
}

TEST(SmoothL1Loss, BetaStandsInOnePlace) {
  const Tensor x = tensor({0.F, 3.F}), y = zeros({2});
  EXPECT_FLOAT_EQ(F::smooth_l1_loss(x, y, kMean, 2.0).item<float>(), 1);
  EXPECT_THROW(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions().beta(1.0), 2.0), ValueError);
}

TEST(Init, OrthogonalRowsOrColumns) {
  for (const Dims& sizes : {Dims{5, 3}, Dims{3, 5}, Dims{4, 2, 3}}) {
    const Tensor w = init::orthogonal_(empty(sizes), 2).view({sizes[0], -1});
    const Tensor gram = w.size(0) < w.size(1) ? w.mm(w.t()) : w.t().mm(w);
    EXPECT_TRUE(allclose(gram, eye(gram.size(0)) * 4, 1e-5, 1e-5)) << str(IntArrayRef(sizes));
  }
  EXPECT_THROW(init::orthogonal_(empty({3})), ShapeError);
}

TEST(Init, SparseColumns) {
  const Tensor w = init::sparse_(empty({10, 4}), 0.25, 1);
  EXPECT_TRUE(w.eq(0).sum(0).equal(full({4}, 3, kLong)));
  EXPECT_THROW(init::sparse_(empty({3}), 0.5), ShapeError);
}

TEST(Fold, TakesColumnsAlone) {
  EXPECT_EQ(message<ShapeError>([] {
              F::fold(zeros({1, 3, 16, 16}), F::FoldFuncOptions({8, 8}, {3, 3}));
            }),
            "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got 4D)");
}

}  // namespace
}  // namespace argand::nn
