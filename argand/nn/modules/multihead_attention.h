// MultiheadAttention as a module.
#pragma once
#include <tuple>

#include "argand/nn/modules/container/any.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/options/multihead_attention.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// Shapes and masks are those of functional::multi_head_attention_forward.  Parameters start as PyTorch's do: the
// projections of the input Xavier-uniform, the biases zero, bias_k and bias_v Xavier-normal.
class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);
  void reset() override;
  void _reset_parameters();
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true);

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight;                               // [3 embed_dim, embed_dim]; undefined if kdim or vdim differ
  Tensor in_proj_bias;                                 // [3 embed_dim], or undefined
  Linear out_proj = nullptr;                           // its weights are used; it is never called
  Tensor bias_k, bias_v;                               // [1, 1, embed_dim], or undefined
  int64_t head_dim = 0;                                // embed_dim / num_heads
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // instead of in_proj_weight

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())},
                                  {6, AnyValue(true)})
};
ARGAND_LIBRARY_MODULE(MultiheadAttention);

}  // namespace argand::nn
