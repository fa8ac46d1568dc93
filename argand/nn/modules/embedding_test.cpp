// Embedding against values of PyTorch 2.15.
#include "argand/nn/modules/embedding.h"

#include <gtest/gtest.h>

#include <sstream>

#include "argand/autograd/engine.h"
#include "argand/core/cpu_generator.h"
#include "argand/nn/functional/embedding.h"
#include "argand/nn/modules/values_test.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

TEST(Embedding, StartsAsPyTorchsDoes) {
  manual_seed(3);
  const Embedding e(EmbeddingOptions(4, 3).padding_idx(-1));
  expect_values("e->weight", e->weight,
                {0.8032760620117188, 0.17483338713645935, 0.08897809684276581, -0.6137180328369141, 0.04618244990706444,
                 -1.3682591915130615, 0.3374950885772705, 1.0111159086227417, -1.435179352760315, 0, 0, 0},
                1e-6);
  EXPECT_TRUE(e->weight.requires_grad());
  std::ostringstream out;
  out << e;
  EXPECT_EQ(out.str(), "torch::nn::Embedding(num_embeddings=4, embedding_dim=3, padding_idx=3)");
}

TEST(Embedding, FromPretrainedWithLargestNorm) {
  const Tensor rows = pattern({4, 3}, 5, 7, -1, 0.5);
  auto e = Embedding::from_pretrained(
      rows, EmbeddingFromPretrainedOptions().freeze(false).padding_idx(1).max_norm(1.2).norm_type(3).scale_grad_by_freq(
                true));
  const Tensor out = e(tensor({0, 1, 2, 0}, kLong).view({2, 2}));
  (out * pattern({2, 2, 3}, 3, 5, 1, 0.5)).sum().backward();
  const std::vector<double> first{-0.7268481931071619, 1.0902722896607429, 0.36342409655358093},
      second{-0.28712671697327213, 1.1485068678930885, 0.5742534339465443},
      third{0, -0.7337056560985764, 1.1005584841478646};
  expect_values("out[0][0]", out[0][0], first, 1e-14);
  expect_values("out[0][1]", out[0][1], second, 1e-14);
  expect_values("out[1][0]", out[1][0], third, 1e-14);
  expect_values("out[1][1]", out[1][1], first, 1e-14);
  expect_values("rows[1]", rows[1], second, 1e-14);  // the matrix itself was scaled
  expect_values("rows[3]", rows[3], {0.5, -0.5, 2}, 0);
  expect_values("e->weight.grad()", e->weight.grad(), {1.5, 1.75, 2, 0, 0, 0, 2.5, 1.5, 3, 0, 0, 0}, 1e-14);
}

TEST(Embedding, FrozenAndCloned) {
  const Tensor rows = pattern({4, 3}, 5, 7, -1, 0.5);
  const auto e = Embedding::from_pretrained(rows);
  EXPECT_FALSE(e->weight.requires_grad());
  const auto copy = std::dynamic_pointer_cast<EmbeddingImpl>(e->clone());
  copy->weight.fill_(0);
  expect_values("e->weight[3]", e->weight[3], {0.5, -0.5, 2}, 0);
  EXPECT_FALSE(copy->weight.requires_grad());
}

TEST(Embedding, BadArguments) {
  EXPECT_THROW(Embedding(4, -3), ValueError);
  EXPECT_THROW(Embedding(EmbeddingOptions(4, 3).padding_idx(4)), ValueError);
  EXPECT_THROW(Embedding(EmbeddingOptions(4, 3).padding_idx(-5)), ValueError);
  EXPECT_THROW(Embedding(EmbeddingOptions(4, 3)._weight(zeros({3, 4}))), ShapeError);
  EXPECT_THROW(Embedding::from_pretrained(zeros({3})), ShapeError);
  const Tensor index = zeros({2}, kLong);
  EXPECT_THROW(functional::embedding(index, zeros({3, 2}), functional::EmbeddingFuncOptions().padding_idx(3)),
               ValueError);
  EXPECT_THROW(Embedding(4, 3)(index + 4), IndexError);
}

}  // namespace
}  // namespace argand::nn
