#include "argand/nn/modules/rnn.h"

#include "argand/nn/modules/recorded_test.h"
#include "argand/ops/create/literal.h"

namespace argand::nn {
namespace {

using utils::rnn::PackedSequence;

using State = std::tuple<Tensor, Tensor>;

std::vector<Tensor> flat(const std::tuple<Tensor, Tensor>& r) { return {std::get<0>(r), std::get<1>(r)}; }
std::vector<Tensor> flat(const std::tuple<Tensor, State>& r) {
  return {std::get<0>(r), std::get<0>(std::get<1>(r)), std::get<1>(std::get<1>(r))};
}
std::vector<Tensor> flat(const std::tuple<PackedSequence, Tensor>& r) {
  return {std::get<0>(r).data(), std::get<1>(r)};
}
std::vector<Tensor> flat(const std::tuple<PackedSequence, State>& r) {
  return {std::get<0>(r).data(), std::get<0>(std::get<1>(r)), std::get<1>(std::get<1>(r))};
}

PackedSequence packed(const Tensor& x, ArrayRef<int64_t> lengths) {
  return utils::rnn::pack_padded_sequence(x, tensor(lengths, kLong), false, false);
}

TEST(RNN, AsPyTorch) {
  expect_as_recorded(
      "rnn", [] { return RNN(RNNOptions(3, 4).num_layers(2).bidirectional(true)); },
      [](RNN& m, Recorded& in) { return flat(m(in["x"], in["h"])); });
  expect_as_recorded(
      "rnn_relu", [] { return RNN(RNNOptions(3, 4).nonlinearity(kReLU).bias(false).batch_first(true)); },
      [](RNN& m, Recorded& in) { return flat(m(in["x"])); });
}

TEST(LSTM, AsPyTorch) {
  expect_as_recorded(
      "lstm", [] { return LSTM(LSTMOptions(3, 4).num_layers(2).batch_first(true)); },
      [](LSTM& m, Recorded& in) { return flat(m(in["x"], State(in["h"], in["c"]))); });
  expect_as_recorded(
      "lstm_packed", [] { return LSTM(LSTMOptions(3, 4).num_layers(2).bidirectional(true).proj_size(2)); },
      [](LSTM& m, Recorded& in) {
        return flat(m->forward_with_packed_input(packed(in["x"], {2, 3, 1}), State(in["h"], in["c"])));
      });
  expect_as_recorded(
      "lstm_unbatched", [] { return LSTM(3, 2); }, [](LSTM& m, Recorded& in) { return flat(m(in["x"])); });
}

TEST(GRU, AsPyTorch) {
  expect_as_recorded(
      "gru", [] { return GRU(GRUOptions(3, 4).num_layers(2).bidirectional(true)); },
      [](GRU& m, Recorded& in) { return flat(m(in["x"])); });
  expect_as_recorded(
      "gru_packed", [] { return GRU(GRUOptions(3, 4).bias(false)); },
      [](GRU& m, Recorded& in) {
        return flat(m->forward_with_packed_input(packed(in["x"], {1, 3, 2}), in["h"]));
      });
  expect_as_recorded(
      "gru_dropout", [] { return GRU(GRUOptions(3, 4).num_layers(2).dropout(0.5)); },
      [](GRU& m, Recorded& in) { return flat(m(in["x"])); });
}

TEST(RNNCell, AsPyTorch) {
  expect_as_recorded(
      "rnn_cell", [] { return RNNCell(RNNCellOptions(3, 4).nonlinearity(kReLU)); },
      [](RNNCell& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
  expect_as_recorded(
      "lstm_cell", [] { return LSTMCell(LSTMCellOptions(3, 4).bias(false)); },
      [](LSTMCell& m, Recorded& in) { return flat(m(in["x"], State(in["h"], in["c"]))); });
  expect_as_recorded(
      "gru_cell", [] { return GRUCell(3, 4); },
      [](GRUCell& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["h"])}; });
}

TEST(RNN, IsPrintedAsLibTorchDoes) {
  EXPECT_EQ(printed(*LSTM(LSTMOptions(3, 4).num_layers(2).proj_size(1))),
            "torch::nn::LSTM(input_size=3, hidden_size=4, num_layers=2, bias=true, batch_first=false, dropout=0, "
            "bidirectional=false, proj_size=1)");
  EXPECT_EQ(printed(*RNN(3, 4)),
            "torch::nn::RNN(input_size=3, hidden_size=4, num_layers=1, bias=true, batch_first=false, dropout=0, "
            "bidirectional=false)");
  EXPECT_EQ(printed(*RNNCell(RNNCellOptions(3, 4).bias(false).nonlinearity(kReLU))),
            "torch::nn::RNNCell(3, 4, bias=false, nonlinearity=kReLU)");
  EXPECT_EQ(printed(*GRUCell(3, 4)), "torch::nn::GRUCell(3, 4)");
}

TEST(RNN, ClonesHaveParametersOfTheirOwn) {
  LSTM m(LSTMOptions(3, 4).bidirectional(true));
  const auto copy = std::dynamic_pointer_cast<LSTMImpl>(m->clone());
  const Tensor x = pattern({2, 1, 3}).to(kFloat), before = std::get<0>(m(x));
  for (const Tensor& p : copy->parameters()) p.set_data(zeros(p.sizes()));
  EXPECT_TRUE(std::get<0>(m(x)).equal(before));
  EXPECT_FALSE(std::get<0>(copy->forward(x)).equal(before));
  EXPECT_EQ(m->named_parameters().keys(), copy->named_parameters().keys());
}

TEST(RNN, BadArguments) {
  EXPECT_ERROR(ValueError, "hidden_size must be greater than zero", RNN(3, 0));
  EXPECT_ERROR(ValueError, "num_layers must be greater than zero", GRU(GRUOptions(3, 4).num_layers(0)));
  EXPECT_ERROR(ValueError, "proj_size has to be smaller than hidden_size", LSTM(LSTMOptions(3, 4).proj_size(4)));
  RNN m(3, 4);
  EXPECT_ERROR(ShapeError, "input.size(-1) must be equal to input_size. Expected 3, got 2", m(zeros({2, 1, 2})));
  EXPECT_ERROR(ShapeError, "Expected hidden size [1, 1, 4], got [1, 2, 4]", m(zeros({2, 1, 3}), zeros({1, 2, 4})));
  EXPECT_ERROR(ShapeError, "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor",
               m(zeros({2, 3}), zeros({1, 2, 4})));
  EXPECT_ERROR(ShapeError, "input has inconsistent input_size: got 2 expected 3", RNNCell(3, 4)(zeros({2})));
}

// ---- utils::rnn

TEST(PackedSequences, ThereAndBack) {
  const Tensor x = pattern({3, 3, 2});
  const PackedSequence p = packed(x, {2, 3, 1});
  expect_values("data", p.data().select(1, 0),
                {x[0][1][0].item<double>(), x[0][0][0].item<double>(), x[0][2][0].item<double>(),
                 x[1][1][0].item<double>(), x[1][0][0].item<double>(), x[2][1][0].item<double>()});
  expect_values("batch_sizes", p.batch_sizes(), {3, 2, 1});
  expect_values("sorted_indices", p.sorted_indices(), {1, 0, 2});
  const auto [padded, lengths] = utils::rnn::pad_packed_sequence(p, true, -1, 4);
  expect_values("lengths", lengths, {2, 3, 1});
  EXPECT_EQ(padded.sizes(), IntArrayRef({3, 4, 2}));
  EXPECT_TRUE(padded[0].narrow(0, 0, 2).equal(x.select(1, 0).narrow(0, 0, 2)));
  EXPECT_TRUE(padded[1].narrow(0, 0, 3).equal(x.select(1, 1)));
  expect_values("padding", padded[2].narrow(0, 1, 3).flatten(), {-1, -1, -1, -1, -1, -1});
  EXPECT_ERROR(ValueError, "Expected total_length to be at least the length of the longest sequence",
               utils::rnn::pad_packed_sequence(p, false, 0, 2));
  EXPECT_ERROR(ValueError, "must be sorted in decreasing order",
               utils::rnn::pack_padded_sequence(x, tensor({2, 3, 1}, kLong)));
}

TEST(PackedSequences, OfAList) {
  const std::vector<Tensor> parts{pattern({1, 2}), pattern({3, 2})};
  const Tensor padded = utils::rnn::pad_sequence(parts, true, 9, "left");
  EXPECT_EQ(padded.sizes(), IntArrayRef({2, 3, 2}));
  expect_values("left", padded[0].narrow(0, 0, 2).flatten(), {9, 9, 9, 9});
  const auto [again, lengths] = utils::rnn::pad_packed_sequence(utils::rnn::pack_sequence(parts, false));
  const std::vector<Tensor> back = utils::rnn::unpad_sequence(again, lengths);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_TRUE(back[0].equal(parts[0]));
  EXPECT_TRUE(back[1].equal(parts[1]));
  expect_values("inverse", utils::rnn::invert_permutation(tensor({2, 0, 1}, kLong)), {1, 2, 0});
}

}  // namespace
}  // namespace argand::nn
