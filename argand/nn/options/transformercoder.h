// Options of stacks of transformer layers.
#pragma once
#include "argand/nn/modules/transformerlayer.h"

namespace argand::nn {

struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers)
      : TransformerEncoderOptions(TransformerEncoderLayer(encoder_layer_options), num_layers) {}
  ARGAND_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;  // each layer is a copy of it
  ARGAND_ARG(int64_t, num_layers);
  ARGAND_ARG(AnyModule, norm);  // applied to the last output, if given
};

struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers)
      : TransformerDecoderOptions(TransformerDecoderLayer(decoder_layer_options), num_layers) {}
  ARGAND_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  ARGAND_ARG(int64_t, num_layers);
  ARGAND_ARG(AnyModule, norm);
};

}  // namespace argand::nn
