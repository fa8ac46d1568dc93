// Options of recurrent networks and their cells.
#pragma once
#include <variant>

#include "argand/base/arg.h"
#include "argand/nn/enums.h"

namespace argand::nn {

namespace detail {

// The options that the three kinds of networks have in common.
struct RNNOptionsBase {
  using rnn_options_base_mode_t =
      std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size, int64_t num_layers = 1,
                 bool bias = true, bool batch_first = false, double dropout = 0, bool bidirectional = false,
                 int64_t proj_size = 0)
      : mode_(mode),
        input_size_(input_size),
        hidden_size_(hidden_size),
        num_layers_(num_layers),
        bias_(bias),
        batch_first_(batch_first),
        dropout_(dropout),
        bidirectional_(bidirectional),
        proj_size_(proj_size) {}
  ARGAND_ARG(rnn_options_base_mode_t, mode);
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(int64_t, num_layers) = 1;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(bool, batch_first) = false;
  ARGAND_ARG(double, dropout) = 0.0;
  ARGAND_ARG(bool, bidirectional) = false;
  ARGAND_ARG(int64_t, proj_size) = 0;
};

struct RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(bool, bias);
  ARGAND_ARG(int64_t, num_chunks);  // how many times hidden_size the rows of the weights are
};

}  // namespace detail

struct RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(int64_t, num_layers) = 1;
  ARGAND_ARG(nonlinearity_t, nonlinearity) = kTanh;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(bool, batch_first) = false;    // [N, T, features] instead of [T, N, features]
  ARGAND_ARG(double, dropout) = 0.0;        // on the outputs of all layers but the last
  ARGAND_ARG(bool, bidirectional) = false;  // a second network reads each sequence from its end
};

struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(int64_t, num_layers) = 1;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(bool, batch_first) = false;
  ARGAND_ARG(double, dropout) = 0.0;
  ARGAND_ARG(bool, bidirectional) = false;
  ARGAND_ARG(int64_t, proj_size) = 0;  // if positive, h is projected to this size
};

struct GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(int64_t, num_layers) = 1;
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(bool, batch_first) = false;
  ARGAND_ARG(double, dropout) = 0.0;
  ARGAND_ARG(bool, bidirectional) = false;
};

struct RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(nonlinearity_t, nonlinearity) = kTanh;
};

struct LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(bool, bias) = true;
};

struct GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  ARGAND_ARG(int64_t, input_size);
  ARGAND_ARG(int64_t, hidden_size);
  ARGAND_ARG(bool, bias) = true;
};

}  // namespace argand::nn
