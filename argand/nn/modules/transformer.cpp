#include "argand/nn/modules/transformer.h"

#include <limits>

#include "argand/nn/init.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

template <class Layer>
Layer layer_options(const TransformerOptions& o) {
  return Layer(o.d_model(), o.nhead())
      .dim_feedforward(o.dim_feedforward())
      .dropout(o.dropout())
      .activation(o.activation())
      .norm_first(o.norm_first());
}

AnyModule final_norm(const TransformerOptions& o) { return AnyModule(LayerNorm(LayerNormOptions({o.d_model()}))); }

}  // namespace

TransformerImpl::TransformerImpl(TransformerOptions options_)
    : Cloneable("torch::nn::TransformerImpl"), options(std::move(options_)) {
  reset();
}

void TransformerImpl::reset() {
  encoder = options.custom_encoder().is_empty()
                ? AnyModule(TransformerEncoder(
                      TransformerEncoderOptions(layer_options<TransformerEncoderLayerOptions>(options),
                                                options.num_encoder_layers())
                          .norm(final_norm(options))))
                : options.custom_encoder().clone();
  decoder = options.custom_decoder().is_empty()
                ? AnyModule(TransformerDecoder(
                      TransformerDecoderOptions(layer_options<TransformerDecoderLayerOptions>(options),
                                                options.num_decoder_layers())
                          .norm(final_norm(options))))
                : options.custom_decoder().clone();
  register_module("encoder", encoder.ptr());
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& p : parameters())
    if (p.dim() > 1) init::xavier_uniform_(p);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  ARGAND_CHECK(ShapeError, src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ",
               src.dim(), " and ", tgt.dim());
  ARGAND_CHECK(ShapeError, src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ",
               src.size(1), " and ", tgt.size(1));
  ARGAND_CHECK(ShapeError, src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
               "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
               tgt.size(2), " while d_model is ", options.d_model());
  const Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
  return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  ARGAND_CHECK(ValueError, sz >= 0,
               "Input size must be non-negative to generate a valid square subsequent mask, but got ", sz);
  return full({sz, sz}, -std::numeric_limits<double>::infinity(), TensorOptions(get_default_dtype())).triu(1);
}

}  // namespace argand::nn
