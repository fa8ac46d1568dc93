// Distances, normalize and limits on gradients.
#include "argand/nn/modules/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "argand/nn/functional.h"
#include "argand/nn/utils.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

template <class M>
std::string printed(const M& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

TEST(Distance, ModulesComputeAndPrint) {
  const Tensor a = tensor({{3.0, 4.0}, {1.0, 0.0}}), b = tensor({{4.0, 3.0}, {0.0, 2.0}});
  CosineSimilarity cosine(CosineSimilarityOptions().dim(1));
  EXPECT_TRUE(allclose(cosine(a, b), tensor({0.96, 0.0})));
  EXPECT_EQ(printed(cosine), "torch::nn::CosineSimilarity(dim=1, eps=1e-08)");
  PairwiseDistance distance(PairwiseDistanceOptions().p(1).eps(0).keepdim(true));
  EXPECT_TRUE(allclose(distance(a, b), tensor({{2.0}, {3.0}})));
  EXPECT_EQ(printed(distance), "torch::nn::PairwiseDistance(p=1, eps=0, keepdim=true)");
}

TEST(Normalize, VectorsGetLengthOneAndZeroStays) {
  const Tensor x = tensor({{3.0, 4.0}, {0.0, 0.0}}), expected = tensor({{0.6, 0.8}, {0.0, 0.0}});
  EXPECT_TRUE(allclose(functional::normalize(x), expected));
  const Tensor out = empty({2, 2}, x.options());
  functional::normalize(x, functional::NormalizeFuncOptions().out(out));
  EXPECT_TRUE(allclose(out, expected));
}

Tensor with_grad(const Tensor& grad) {
  Tensor p = zeros(grad.sizes(), grad.options());
  p.mutable_grad() = grad.clone();
  return p;
}

TEST(ClipGrad, ScalesAllByOneFactor) {
  std::vector<Tensor> parameters{with_grad(tensor({3.0, 0.0})), zeros({2}), with_grad(tensor({4.0}))};
  EXPECT_DOUBLE_EQ(utils::clip_grad_norm_(parameters, 1), 5);
  EXPECT_TRUE(allclose(parameters[0].grad(), tensor({0.6, 0.0})));
  EXPECT_TRUE(allclose(parameters[2].grad(), tensor({0.8})));
  EXPECT_FALSE(parameters[1].grad().defined());
  const Tensor before = parameters[0].grad().clone();
  EXPECT_NEAR(utils::clip_grad_norm_(parameters, 2), 1, 1e-6);  // small enough: nothing changes
  EXPECT_TRUE(equal(parameters[0].grad(), before));
}

TEST(ClipGrad, KnowsOtherNorms) {
  const std::vector<Tensor> parameters{with_grad(tensor({3.0, -4.0})), with_grad(tensor({-7.0}))};
  EXPECT_DOUBLE_EQ(utils::clip_grad_norm_(parameters, 1000, 1), 14);
  EXPECT_DOUBLE_EQ(utils::clip_grad_norm_(parameters, 1000, std::numeric_limits<double>::infinity()), 7);
  EXPECT_EQ(utils::clip_grad_norm_(std::vector<Tensor>{}, 1), 0);
}

TEST(ClipGrad, RefusesNonfiniteNormsWhenAsked) {
  const Tensor p = with_grad(tensor({std::nan(""), 1.0}));
  try {
    utils::clip_grad_norm_(p, 1, 2, true);
    ADD_FAILURE() << "no error";
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("The total norm of order 2 for gradients from `parameters` is non-finite"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(p.grad().select(0, 1).item<double>(), 1);  // nothing was scaled
  EXPECT_TRUE(std::isnan(utils::clip_grad_norm_(p, 1)));
}

TEST(ClipGrad, LimitsValues) {
  const Tensor p = with_grad(tensor({3.0, -4.0, 0.25}));
  utils::clip_grad_value_(p, 0.5);
  EXPECT_TRUE(equal(p.grad(), tensor({0.5, -0.5, 0.25})));
}

}  // namespace
}  // namespace argand::nn
