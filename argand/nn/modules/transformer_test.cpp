#include "argand/nn/modules/transformer.h"

#include "argand/core/cpu_generator.h"
#include "argand/nn/modules/recorded_test.h"

namespace argand::nn {
namespace {

// Results that are there.
std::vector<Tensor> flat(const std::tuple<Tensor, Tensor>& r) {
  return std::get<1>(r).defined() ? std::vector<Tensor>{std::get<0>(r), std::get<1>(r)}
                                  : std::vector<Tensor>{std::get<0>(r)};
}

TEST(MultiheadAttention, AsPyTorch) {
  using M = MultiheadAttention;
  expect_as_recorded(
      "attention", [] { return M(4, 2); }, [](M& m, Recorded& in) { return flat(m(in["x"], in["x"], in["x"])); });
  expect_as_recorded(
      "attention_masked", [] { return M(MultiheadAttentionOptions(4, 2).add_bias_kv(true).add_zero_attn(true)); },
      [](M& m, Recorded& in) {
        return flat(m(in["q"], in["k"], in["v"], in["padding"].to(kBool), true, in["mask"], false));
      });
  expect_as_recorded(
      "attention_without_weights", [] { return M(MultiheadAttentionOptions(4, 2).bias(false).kdim(3).vdim(5)); },
      [](M& m, Recorded& in) {
        return flat(m(in["q"], in["k"], in["v"], in["padding"].to(kBool), false, in["mask"].to(kBool)));
      });
  expect_as_recorded(
      "attention_unbatched", [] { return M(4, 2); },
      [](M& m, Recorded& in) { return flat(m(in["q"], in["k"], in["k"])); });
}

TEST(MultiheadAttention, DropsAsPyTorchDoes) {
  using M = MultiheadAttention;
  const auto make = [] { return M(MultiheadAttentionOptions(4, 2).dropout(0.5)); };
  expect_as_recorded("attention_dropout", make, [](M& m, Recorded& in) { return flat(m(in["x"], in["x"], in["x"])); });
  expect_as_recorded("attention_dropout_without_weights", make,
                     [](M& m, Recorded& in) { return flat(m(in["x"], in["x"], in["x"], Tensor(), false)); });
}

TEST(MultiheadAttention, WithAndWithoutWeightsAgree) {
  MultiheadAttention m(8, 2);
  const Tensor x = pattern({5, 3, 8}).to(kFloat), mask = TransformerImpl::generate_square_subsequent_mask(5);
  const Tensor with = std::get<0>(m(x, x, x, Tensor(), true, mask)),
               without = std::get<0>(m(x, x, x, Tensor(), false, mask));
  EXPECT_TRUE(with.allclose(without, 1e-5, 1e-6));
}

TEST(MultiheadAttention, BadArguments) {
  EXPECT_ERROR(ValueError, "embed_dim must be divisible by num_heads", MultiheadAttention(5, 2));
  MultiheadAttention m(4, 2);
  const Tensor x = zeros({3, 2, 4});
  EXPECT_ERROR(ShapeError, "was expecting embedding dimension of 4, but got 5",
               m(zeros({3, 2, 5}), zeros({3, 2, 5}), zeros({3, 2, 5})));
  EXPECT_ERROR(ShapeError, "query should be unbatched 2D or batched 3D tensor", m(zeros({4}), zeros({4}), zeros({4})));
  EXPECT_ERROR(ShapeError, "The shape of the 2D attn_mask is [2, 3], but should be [3, 3].",
               m(x, x, x, Tensor(), true, zeros({2, 3})));
  EXPECT_ERROR(ShapeError, "expecting key_padding_mask shape of [2, 3], but got [3, 2]", m(x, x, x, zeros({3, 2})));
  EXPECT_ERROR(DtypeError, "only bool and floating types of masks are supported, got int64",
               m(x, x, x, zeros({2, 3}, kLong)));
}

TEST(TransformerLayers, AsPyTorch) {
  using Encoder = TransformerEncoderLayer;
  using Decoder = TransformerDecoderLayer;
  const auto encoder = TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).dropout(0);
  const auto decoder = TransformerDecoderLayerOptions(4, 2).dim_feedforward(6).dropout(0);
  expect_as_recorded(
      "encoder_layer", [&] { return Encoder(encoder); },
      [](Encoder& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["mask"], in["padding"].to(kBool))}; });
  expect_as_recorded(
      "encoder_layer_norm_first",
      [&] { return Encoder(TransformerEncoderLayerOptions(encoder).activation(kGELU).norm_first(true)); },
      [](Encoder& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
  expect_as_recorded(
      "decoder_layer", [&] { return Decoder(decoder); },
      [](Decoder& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["memory"], in["mask"])}; });
  expect_as_recorded(
      "decoder_layer_norm_first", [&] { return Decoder(TransformerDecoderLayerOptions(decoder).norm_first(true)); },
      [](Decoder& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["memory"])}; });
}

// The values are Python's, where a copy of a layer draws nothing; LibTorch's copies do, and ours.
Transformer drawn_as_in_python() {
  const TransformerEncoderLayer encoder(TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).dropout(0));
  const TransformerDecoderLayer decoder(TransformerDecoderLayerOptions(4, 2).dim_feedforward(6).dropout(0));
  Generator generator = default_cpu_generator();
  const std::vector<uint8_t> state = generator.state();
  Transformer m(TransformerOptions(4, 2, 2, 1).dim_feedforward(6).dropout(0));
  auto parameters = m->named_parameters();
  const auto take = [&](const std::string& layer, const Module& from) {
    for (const auto& p : from.named_parameters()) parameters[layer + p.key()].set_data(p.value().detach().clone());
  };
  take("encoder.layers.0.", *encoder);
  take("encoder.layers.1.", *encoder);
  take("decoder.layers.0.", *decoder);
  generator.set_state(state);
  m->reset_parameters();
  return m;
}

TEST(Transformer, AsPyTorch) {
  expect_as_recorded("transformer", drawn_as_in_python, [](Transformer& m, Recorded& in) {
    const Tensor mask = TransformerImpl::generate_square_subsequent_mask(3).to(kDouble);
    return std::vector<Tensor>{m(in["src"], in["tgt"], Tensor(), mask)};
  });
}

TEST(Transformer, ActivationMayBeAnyFunction) {
  const auto square = [](const Tensor& t) { return t * t; };
  TransformerEncoderLayer m(TransformerEncoderLayerOptions(4, 2).dropout(0).activation(square));
  EXPECT_EQ(m(zeros({3, 2, 4})).sizes(), IntArrayRef({3, 2, 4}));
}

TEST(Transformer, ClonesShareNothing) {
  Transformer m(TransformerOptions(4, 2, 1, 1).dim_feedforward(6).dropout(0));
  const auto copy = std::dynamic_pointer_cast<TransformerImpl>(m->clone());
  EXPECT_EQ(m->named_parameters().keys(), copy->named_parameters().keys());
  const Tensor x = pattern({2, 1, 4}).to(kFloat), before = m(x, x);
  EXPECT_TRUE(copy->forward(x, x).equal(before));
  for (const Tensor& p : copy->parameters()) p.set_data(zeros(p.sizes()));
  EXPECT_TRUE(m(x, x).equal(before));
  EXPECT_FALSE(copy->forward(x, x).equal(before));
}

TEST(Transformer, TheNormGivenIsTheOneUsed) {
  const LayerNorm norm(LayerNormOptions({4}));
  TransformerEncoder m(TransformerEncoderOptions(TransformerEncoderLayerOptions(4, 2).dim_feedforward(6).dropout(0), 1)
                           .norm(AnyModule(norm)));
  norm->weight.set_data(zeros({4}));
  expect_values("zeros", m(pattern({2, 1, 4}).to(kFloat)), std::vector<double>(8, 0));
}

TEST(Transformer, BadArguments) {
  Transformer m(TransformerOptions(4, 2, 1, 1).dim_feedforward(6));
  EXPECT_ERROR(ShapeError, "src and tgt should have equal batch size (at dim 1), but got 2 and 3",
               m(zeros({3, 2, 4}), zeros({3, 3, 4})));
  EXPECT_ERROR(ShapeError, "src and tgt should have same feature size as d_model (at dim 2)",
               m(zeros({3, 2, 5}), zeros({3, 2, 5})));
  EXPECT_ERROR(ValueError, "Input size must be non-negative", TransformerImpl::generate_square_subsequent_mask(-1));
}

}  // namespace
}  // namespace argand::nn
