// Transformer: an encoder, and a decoder that attends to the encoder's output.
#pragma once
#include "argand/nn/modules/transformercoder.h"
#include "argand/nn/options/transformer.h"

namespace argand::nn {

// src [S, N, d_model] and tgt [T, N, d_model] give [T, N, d_model].  Matrices among the parameters start
// Xavier-uniform.
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  TransformerImpl() : TransformerImpl(TransformerOptions()) {}
  TransformerImpl(int64_t d_model, int64_t nhead) : TransformerImpl(TransformerOptions(d_model, nhead)) {}
  explicit TransformerImpl(TransformerOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});

  // [sz, sz] of zeros, and minus infinity above the diagonal: position i sees positions 0 ... i.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder, decoder;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                                  {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
ARGAND_LIBRARY_MODULE(Transformer);

}  // namespace argand::nn
