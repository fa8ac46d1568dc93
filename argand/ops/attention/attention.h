// What the ops of attention share.
#pragma once
#include <array>

#include "argand/core/tensor.h"

namespace argand::ops {

// 1 / sqrt(width of query) unless a scale is given.
double attention_scale(const Tensor& query, std::optional<double> scale);

// Which keys each query may look at, as an additive term in the dtype: [L, S] zeros, and minus infinity above the
// diagonal.
Tensor causal_mask(const Tensor& query, const Tensor& key);

// A bool mask (true: takes part) as an additive one; others stay as they are.
Tensor additive_mask(const Tensor& mask, ScalarType dtype);

// Whether `given` heads of key and value can serve `heads` of query.
void check_shared_heads(const char* op, int64_t given, int64_t heads);

// What the ops that take tensors [N, heads, positions, features] share of their checks; key and value may have fewer
// heads.
void check_attention_operands(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& mask, bool is_causal);

// The gradients of query, key, value and scores in ops, by way of all weights: they can be differentiated again.
// `kept`: what the weights were multiplied by, if defined.
std::array<Tensor, 4> attention_gradients(const Tensor& g, const Tensor& query, const Tensor& key, const Tensor& value,
                                          const Tensor& attn_mask, bool is_causal, std::optional<double> scale,
                                          const Tensor& kept);

// The same as gradients of an op that has query, key, value and a mask for its first arguments, of context `c`.
template <class Grads, class Ctx>
Grads attention_gradients_in_ops(const Ctx& c, const Tensor& g, const Tensor& kept = {}) {
  Grads out(c.num_tensors());
  const auto all = attention_gradients(g, c.query, c.key, c.value, c.attn_mask, c.is_causal, c.scale, kept);
  for (size_t i = 0; i < all.size(); ++i)
    if (c.needs(i)) out[i] = all[i];
  return out;
}

}  // namespace argand::ops
