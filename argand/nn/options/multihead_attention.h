// Options of multi-head attention.
#pragma once
#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn {

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  ARGAND_ARG(int64_t, embed_dim);
  ARGAND_ARG(int64_t, num_heads);
  ARGAND_ARG(double, dropout) = 0.0;  // on the weights
  ARGAND_ARG(bool, bias) = true;
  ARGAND_ARG(bool, add_bias_kv) = false;    // one more key and value, which are trained
  ARGAND_ARG(bool, add_zero_attn) = false;  // one more key and value of zeros
  ARGAND_ARG(int64_t, kdim);                // features of keys and values; embed_dim if not given
  ARGAND_ARG(int64_t, vdim);
};

namespace functional {

struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight,
                                       Tensor in_proj_bias, Tensor bias_k, Tensor bias_v, bool add_zero_attn,
                                       double dropout_p, Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  ARGAND_ARG(int64_t, embed_dim_to_check);
  ARGAND_ARG(int64_t, num_heads);
  ARGAND_ARG(Tensor, in_proj_weight);  // [3 embed_dim, embed_dim]: those of query, key and value
  ARGAND_ARG(Tensor, in_proj_bias);    // [3 embed_dim], or undefined
  ARGAND_ARG(Tensor, bias_k);          // [1, 1, embed_dim], or undefined
  ARGAND_ARG(Tensor, bias_v);
  ARGAND_ARG(bool, add_zero_attn);
  ARGAND_ARG(double, dropout_p);
  ARGAND_ARG(Tensor, out_proj_weight);
  ARGAND_ARG(Tensor, out_proj_bias);
  ARGAND_ARG(bool, training) = true;
  ARGAND_ARG(Tensor, key_padding_mask) = Tensor();
  ARGAND_ARG(bool, need_weights) = true;
  ARGAND_ARG(Tensor, attn_mask) = Tensor();
  ARGAND_ARG(bool, use_separate_proj_weight) = false;
  ARGAND_ARG(Tensor, q_proj_weight) = Tensor();
  ARGAND_ARG(Tensor, k_proj_weight) = Tensor();
  ARGAND_ARG(Tensor, v_proj_weight) = Tensor();
  ARGAND_ARG(Tensor, static_k) = Tensor();  // [N * num_heads, S, head features]: used instead of the projected keys
  ARGAND_ARG(Tensor, static_v) = Tensor();
  ARGAND_ARG(bool, average_attn_weights) = true;
};

}  // namespace functional
}  // namespace argand::nn
