// Options of Transformer.
#pragma once
#include "argand/nn/modules/container/any.h"
#include "argand/nn/options/transformerlayer.h"

namespace argand::nn {

struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  ARGAND_ARG(int64_t, d_model) = 512;
  ARGAND_ARG(int64_t, nhead) = 8;
  ARGAND_ARG(int64_t, num_encoder_layers) = 6;
  ARGAND_ARG(int64_t, num_decoder_layers) = 6;
  ARGAND_ARG(int64_t, dim_feedforward) = 2048;
  ARGAND_ARG(double, dropout) = 0.1;
  ARGAND_ARG(activation_t, activation) = kReLU;
  ARGAND_ARG(bool, norm_first) = false;
  ARGAND_ARG(AnyModule, custom_encoder);  // instead of a TransformerEncoder; called with its arguments
  ARGAND_ARG(AnyModule, custom_decoder);
};

}  // namespace argand::nn
