#include "argand/nn/modules/embedding_bag.h"

#include "argand/nn/modules/recorded_test.h"
#include "argand/ops/create/literal.h"

namespace argand::nn {
namespace {

TEST(EmbeddingBag, AsPyTorch) {
  expect_as_recorded(
      "embedding_bag", [] { return EmbeddingBag(EmbeddingBagOptions(5, 3).padding_idx(1)); },
      [](EmbeddingBag& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["offsets"])}; });
  expect_as_recorded(
      "embedding_bag_max", [] { return EmbeddingBag(EmbeddingBagOptions(5, 3).max_norm(1.5).mode(kMax)); },
      [](EmbeddingBag& m, Recorded& in) {
        return std::vector<Tensor>{m(in["x"].view({2, 3}))};
      });
  expect_as_recorded(
      "embedding_bag_weighted",
      [] { return EmbeddingBag(EmbeddingBagOptions(5, 3).mode(kSum).include_last_offset(true)); },
      [](EmbeddingBag& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["offsets"], in["weights"])}; });
}

TEST(EmbeddingBag, FromPretrained) {
  const Tensor rows = pattern({4, 2});
  auto m = EmbeddingBag::from_pretrained(rows, EmbeddingBagFromPretrainedOptions().mode(kSum));
  EXPECT_FALSE(m->weight.requires_grad());
  EXPECT_TRUE(m(tensor({1, 3}, kLong).view({1, 2})).allclose((rows[1] + rows[3]).unsqueeze(0)));
  EXPECT_EQ(printed(*m), "torch::nn::EmbeddingBag(num_embeddings=4, embedding_dim=2, mode=kSum)");
}

TEST(EmbeddingBag, BadArguments) {
  EmbeddingBag m(4, 2);
  const Tensor index = zeros({3}, kLong);
  EXPECT_ERROR(ValueError, "offsets has to be a 1D Tensor but got null", m(index));
  EXPECT_ERROR(ValueError, "If input is 2D, then offsets has to be null", m(index.view({1, 3}), zeros({1}, kLong)));
  EXPECT_ERROR(ShapeError, "input has to be 1D or 2D Tensor, but got Tensor of dimension 3", m(index.view({1, 1, 3})));
  EXPECT_ERROR(ValueError, "per_sample_weights is only supported for mode='sum'",
               m(index, zeros({1}, kLong), zeros({3})));
  EXPECT_ERROR(IndexError, "found idx to be 4 at position 0 of input, for 4 embeddings",
               m(index + 4, zeros({1}, kLong)));
  EXPECT_ERROR(ValueError, "Padding_idx must be within num_embeddings",
               EmbeddingBag(EmbeddingBagOptions(4, 2).padding_idx(4)));
}

}  // namespace
}  // namespace argand::nn
