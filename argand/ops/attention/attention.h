// Shared parts of the attention ops.
#pragma once
#include <array>

#include "argand/core/tensor.h"

namespace argand::ops {

// 1 / sqrt(width of query) unless a scale is given.
double attention_scale(const Tensor& query, std::optional<double> scale);

// The causal mask as an additive term in the dtype: [L, S] zeros, with minus infinity above the diagonal.
Tensor causal_mask(const Tensor& query, const Tensor& key);

// Converts a bool mask (true: takes part) to an additive one; other masks stay as they are.
Tensor additive_mask(const Tensor& mask, ScalarType dtype);

// Whether `given` heads of key and value can serve `heads` of query.
void check_shared_heads(const char* op, int64_t given, int64_t heads);

// The checks that ops with tensors [N, heads, positions, features] share; key and value may have fewer heads.
void check_attention_operands(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& mask, bool is_causal);

// The gradients of query, key, value and scores, composed of ops on the full weights: they can be differentiated again.
// `kept`: the factors that the weights were multiplied by, if defined.
std::array<Tensor, 4> attention_gradients(const Tensor& g, const Tensor& query, const Tensor& key, const Tensor& value,
                                          const Tensor& attn_mask, bool is_causal, std::optional<double> scale,
                                          const Tensor& kept);

// The same as the gradients of an op whose first arguments are query, key, value and a mask; `c` is its context.
template <class Grads, class Ctx>
Grads attention_gradients_in_ops(const Ctx& c, const Tensor& g, const Tensor& kept = {}) {
  Grads out(c.num_tensors());
  const auto all = attention_gradients(g, c.query, c.key, c.value, c.attn_mask, c.is_causal, c.scale, kept);
  for (size_t i = 0; i < all.size(); ++i)
    if (c.needs(i)) out[i] = all[i];
  return out;
}

}  // namespace argand::ops
