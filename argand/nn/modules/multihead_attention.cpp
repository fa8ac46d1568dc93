#include "argand/nn/modules/multihead_attention.h"

#include "argand/nn/functional/multihead_attention.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"

namespace argand::nn {

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable("torch::nn::MultiheadAttention"), options(options_) {
  reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t width = options.embed_dim();
  ARGAND_CHECK(ValueError, width > 0 && options.num_heads() > 0,
               "embed_dim and num_heads must be greater than 0, got embed_dim=", width,
               " and num_heads=", options.num_heads(), " instead");
  ARGAND_CHECK(ValueError, options.dropout() >= 0 && options.dropout() <= 1,
               "dropout probability has to be between 0 and 1, but got ", options.dropout());
  _qkv_same_embed_dim = options.kdim() == width && options.vdim() == width;
  head_dim = width / options.num_heads();
  ARGAND_CHECK(ValueError, head_dim * options.num_heads() == width, "embed_dim must be divisible by num_heads, got ",
               width, " and ", options.num_heads());
  const auto parameter = [&](const char* name, bool has, IntArrayRef sizes) {
    return register_parameter(name, has ? empty(sizes) : Tensor(), has);
  };
  q_proj_weight = parameter("q_proj_weight", !_qkv_same_embed_dim, {width, width});
  k_proj_weight = parameter("k_proj_weight", !_qkv_same_embed_dim, {width, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !_qkv_same_embed_dim, {width, options.vdim()});
  in_proj_weight = parameter("in_proj_weight", _qkv_same_embed_dim, {3 * width, width});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * width});
  out_proj = register_module("out_proj", Linear(LinearOptions(width, width).bias(options.bias())));
  bias_k = parameter("bias_k", options.add_bias_kv(), {1, 1, width});
  bias_v = parameter("bias_v", options.add_bias_kv(), {1, 1, width});
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  if (_qkv_same_embed_dim) {
    init::xavier_uniform_(in_proj_weight);
  } else {
    for (const Tensor& w : {q_proj_weight, k_proj_weight, v_proj_weight}) init::xavier_uniform_(w);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights,
                                                           const Tensor& attn_mask, bool average_attn_weights) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(options.embed_dim(), options.num_heads(), in_proj_weight,
                                                       in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
                                                       options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights));
}

}  // namespace argand::nn
