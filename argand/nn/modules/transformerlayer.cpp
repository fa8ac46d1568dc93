#include "argand/nn/modules/transformerlayer.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

Tensor activated(const activation_t& activation, const Tensor& x) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return relu(x);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return gelu(x);
  const auto& f = std::get<std::function<Tensor(const Tensor&)>>(activation);
  ARGAND_CHECK(ValueError, f, "activation should be kReLU, kGELU, or a callable, got an empty function");
  return f(x);
}

MultiheadAttention attention(int64_t width, int64_t heads, double p) {
  return MultiheadAttention(MultiheadAttentionOptions(width, heads).dropout(p));
}

// The layer's blocks do not need the weights of attention.
Tensor attend(MultiheadAttention& m, const Tensor& query, const Tensor& memory, const Tensor& mask,
              const Tensor& padding) {
  return std::get<0>(m(query, memory, memory, padding, false, mask));
}

// x + block(x), normalised before the block or after the sum.
template <class Block>
Tensor residual(const Tensor& x, LayerNorm& norm, bool norm_first, Block block) {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

void reset_linear(Linear& a, Linear& b) {
  a->reset_parameters();
  b->reset_parameters();
}

}  // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : Cloneable("torch::nn::TransformerEncoderLayerImpl"), options(std::move(options_)) {
  reset();
}

void TransformerEncoderLayerImpl::reset() {
  const int64_t width = options.d_model();
  const double p = options.dropout();
  self_attn = register_module("self_attn", attention(width, options.nhead(), p));
  linear1 = register_module("linear1", Linear(width, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(p));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), width));
  norm1 = register_module("norm1", LayerNorm(LayerNormOptions({width})));
  norm2 = register_module("norm2", LayerNorm(LayerNormOptions({width})));
  dropout1 = register_module("dropout1", Dropout(p));
  dropout2 = register_module("dropout2", Dropout(p));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  reset_linear(linear1, linear2);
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  const bool first = options.norm_first();
  const Tensor x = residual(src, norm1, first, [&](const Tensor& t) {
    return dropout1(attend(self_attn, t, t, src_mask, src_key_padding_mask));
  });
  return residual(x, norm2, first, [&](const Tensor& t) {
    return dropout2(linear2(dropout(activated(options.activation(), linear1(t)))));
  });
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : Cloneable("torch::nn::TransformerDecoderLayerImpl"), options(std::move(options_)) {
  reset();
}

void TransformerDecoderLayerImpl::reset() {
  const int64_t width = options.d_model();
  const double p = options.dropout();
  const auto norm = [&] { return LayerNorm(LayerNormOptions({width})); };
  self_attn = register_module("self_attn", attention(width, options.nhead(), p));
  multihead_attn = register_module("multihead_attn", attention(width, options.nhead(), p));
  linear1 = register_module("linear1", Linear(width, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(p));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), width));
  norm1 = register_module("norm1", norm());
  norm2 = register_module("norm2", norm());
  norm3 = register_module("norm3", norm());
  dropout1 = register_module("dropout1", Dropout(p));
  dropout2 = register_module("dropout2", Dropout(p));
  dropout3 = register_module("dropout3", Dropout(p));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  reset_linear(linear1, linear2);
  for (LayerNorm* norm : {&norm1, &norm2, &norm3}) (*norm)->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
                                            const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  const bool first = options.norm_first();
  tgt = residual(tgt, norm1, first,
                 [&](const Tensor& t) { return dropout1(attend(self_attn, t, t, tgt_mask, tgt_key_padding_mask)); });
  tgt = residual(tgt, norm2, first, [&](const Tensor& t) {
    return dropout2(attend(multihead_attn, t, memory, memory_mask, memory_key_padding_mask));
  });
  return residual(tgt, norm3, first, [&](const Tensor& t) {
    return dropout3(linear2(dropout(activated(options.activation(), linear1(t)))));
  });
}

}  // namespace argand::nn
