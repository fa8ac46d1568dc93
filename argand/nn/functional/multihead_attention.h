// Multi-head attention ("Attention Is All You Need", Vaswani et al. 2017).
#pragma once
#include <tuple>

#include "argand/nn/options/multihead_attention.h"

namespace argand::nn::functional {

// query [L, N, embed_dim], key [S, N, kdim] and value [S, N, vdim], or all three without N, give the attended values
// [L, N, embed_dim] and, with need_weights, the weights [N, L, S], averaged over the heads, or [N, num_heads, L, S]
// (else an undefined tensor, and they are never in memory at once).  key_padding_mask [N, S] and attn_mask [L, S] or
// [N * num_heads, L, S] are bool (true: does not take part) or numbers that are added to the scores.
std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& options);

}  // namespace argand::nn::functional
