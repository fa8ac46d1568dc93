// Rows of networks that read sequences, the same on either device; bench/torch_sequences.py is PyTorch's side.
// Each function makes what it needs on `device` and gives the work to repeat.
#pragma once
#include <functional>
#include <memory>

#include "argand/exec/window.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/rnn.h"
#include "argand/nn/modules/transformerlayer.h"
#include "argand/ops/functions.h"
#include "argand/optim/sgd.h"

namespace argand::bench {

using Work = std::function<void()>;

template <class Loss>
Work trainer(const std::vector<Tensor>& parameters, Loss loss) {
  const auto optimizer = std::make_shared<optim::SGD>(parameters, optim::SGDOptions(0.01));
  return [optimizer, loss]() mutable {
    optimizer->zero_grad();
    loss().backward();
    optimizer->step();
  };
}

template <class Layer>
Work recurrent_step(Device device) {
  Layer net(64, 128);
  net->to(device);
  const Tensor x = randn({50, 32, 64}).to(device);
  return trainer(net->parameters(), [net, x]() mutable { return std::get<0>(net(x)).square().mean(); });
}

inline Work char_rnn_step(Device device) {
  nn::Linear i2h(57 + 128, 128), i2o(57 + 128, 18);
  i2h->to(device);
  i2o->to(device);
  std::vector<Tensor> parameters = i2h->parameters();
  for (const Tensor& p : i2o->parameters()) parameters.push_back(p);
  const Tensor letters = one_hot(randint(57, {32}), 57).to(kFloat).unsqueeze(1).to(device);
  const Tensor label = full({1}, 3, kLong).to(device);
  return trainer(parameters, [i2h, i2o, letters, label, device]() mutable {
    Tensor hidden = zeros({1, 128}, device), out;
    for (const Tensor& letter : letters.unbind()) {
      const Tensor both = cat({letter, hidden}, 1);
      hidden = i2h(both);
      out = i2o(both);
    }
    return nll_loss(out.log_softmax(1), label);
  });
}

inline Work transformer_layer_step(Device device) {
  nn::TransformerEncoderLayer net(nn::TransformerEncoderLayerOptions(256, 4).dim_feedforward(512).dropout(0.0));
  net->to(device);
  const Tensor x = randn({64, 8, 256}).to(device);
  return trainer(net->parameters(), [net, x]() mutable { return net(x).square().mean(); });
}

inline Work attention(Device device) {
  const Tensor q = randn({4, 8, 512, 64}).to(device), k = randn({4, 8, 512, 64}).to(device),
               v = randn({4, 8, 512, 64}).to(device);
  return [q, k, v] {
    const Tensor out = scaled_dot_product_attention(q, k, v, {}, 0.0, true);
    exec::flush();
  };
}

struct Row {
  const char* name;
  Work (*make)(Device);
};
inline constexpr Row sequences[] = {{"step/lstm_t50_b32_h128", recurrent_step<nn::LSTM>},
                                    {"step/gru_t50_b32_h128", recurrent_step<nn::GRU>},
                                    {"step/char_rnn_32_letters", char_rnn_step},
                                    {"step/transformer_layer_256_b8_t64", transformer_layer_step},
                                    {"attention/b4_h8_t512_d64", attention}};

}  // namespace argand::bench
