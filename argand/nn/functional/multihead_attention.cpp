#include "argand/nn/functional/multihead_attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

constexpr const char* kName = "multi_head_attention_forward";

void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value,
                  const MultiheadAttentionForwardFuncOptions& o) {
  const int64_t dims = query.dim();
  ARGAND_CHECK(ShapeError, dims == 2 || dims == 3, kName,
               ": query should be unbatched 2D or batched 3D tensor but received ", dims, "-D query tensor");
  ARGAND_CHECK(ShapeError, key.dim() == dims && value.dim() == dims, kName, ": For ",
               dims == 3 ? "batched" : "unbatched", " query, expected key and value to be ", dims, "-D but found ",
               key.dim(), "-D and ", value.dim(), "-D tensors respectively");
  ARGAND_CHECK(ShapeError, query.size(-1) == o.embed_dim_to_check(), kName, ": was expecting embedding dimension of ",
               o.embed_dim_to_check(), ", but got ", query.size(-1));
  ARGAND_CHECK(ValueError, o.num_heads() > 0 && query.size(-1) % o.num_heads() == 0, kName, ": embed_dim ",
               query.size(-1), " not divisible by num_heads ", o.num_heads());
  ARGAND_CHECK(
      ShapeError,
      key.size(0) == value.size(0) && (dims == 2 || (key.size(1) == value.size(1) && key.size(1) == query.size(1))),
      kName, ": key's sequence and batch dims ", key.sizes(), " do not match value's ", value.sizes(),
      " or query's batch ", query.sizes());
}

// Queries, keys and values after their linear maps, [length, N, embed_dim].
std::array<Tensor, 3> projected(const Tensor& query, const Tensor& key, const Tensor& value,
                                const MultiheadAttentionForwardFuncOptions& o) {
  const auto part = [&](const Tensor& of_all, int64_t i) {
    return of_all.defined() ? of_all.narrow(0, i * query.size(-1), query.size(-1)) : of_all;
  };
  if (!o.use_separate_proj_weight() && query.is_same(key) && key.is_same(value)) {
    const std::vector<Tensor> all = linear(query, o.in_proj_weight(), o.in_proj_bias()).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  const auto weight = [&](const Tensor& own, int64_t i) {
    return o.use_separate_proj_weight() ? own : part(o.in_proj_weight(), i);
  };
  return {linear(query, weight(o.q_proj_weight(), 0), part(o.in_proj_bias(), 0)),
          linear(key, weight(o.k_proj_weight(), 1), part(o.in_proj_bias(), 1)),
          linear(value, weight(o.v_proj_weight(), 2), part(o.in_proj_bias(), 2))};
}

// A mask as a term of the scores.
Tensor additive(const Tensor& mask, ScalarType dtype) {
  if (!mask.defined()) return mask;
  ARGAND_CHECK(DtypeError, mask.dtype() == kBool || is_floating_point(mask.dtype()), kName,
               ": only bool and floating types of masks are supported, got ", mask.dtype());
  if (mask.dtype() != kBool) return mask.to(dtype);
  return zeros(mask.sizes(), TensorOptions(mask.device()).dtype(dtype))
      .masked_fill(mask, -std::numeric_limits<double>::infinity());
}

// Room for one more key, which always takes part.
Tensor with_key(const Tensor& mask) { return mask.defined() ? constant_pad_nd(mask, {0, 1}) : mask; }

struct Heads {
  Tensor query, key, value;  // [N, num_heads, length, features]
  Tensor mask;               // added to the scores, or undefined
};

Tensor split_heads(const Tensor& t, int64_t batch, int64_t heads) {  // [length, N, embed_dim]
  return t.reshape({t.size(0), batch, heads, t.size(2) / heads}).permute({1, 2, 0, 3});
}

Tensor static_heads(const char* name, const Tensor& t, int64_t batch, int64_t heads, int64_t features) {
  ARGAND_CHECK(ShapeError, t.dim() == 3 && t.size(0) == batch * heads && t.size(2) == features, kName, ": expecting ",
               name, " of shape [", batch * heads, ", S, ", features, "], but got ", t.sizes());
  return t.view({batch, heads, t.size(1), features});
}

// key_padding_mask and attn_mask in one.
Tensor joined_mask(Tensor padding, Tensor mask, int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
  if (mask.defined()) {
    const bool one = mask.dim() == 2;
    const Dims expected = one ? Dims{queries, keys} : Dims{batch * heads, queries, keys};
    ARGAND_CHECK(ShapeError, mask.sizes() == IntArrayRef(expected), kName, ": The shape of the ", one ? "2D" : "3D",
                 " attn_mask is ", mask.sizes(), ", but should be ", expected, ".");
    if (!one) mask = mask.view({batch, heads, queries, keys});
  }
  if (padding.defined()) {
    ARGAND_CHECK(ShapeError, padding.sizes() == IntArrayRef({batch, keys}), kName,
                 ": expecting key_padding_mask shape of ", Dims{batch, keys}, ", but got ", padding.sizes());
    padding = padding.view({batch, 1, 1, keys});
    mask = mask.defined() ? mask + padding : padding;
  }
  return mask;
}

Heads make_heads(const Tensor& query, const Tensor& key, const Tensor& value,
                 const MultiheadAttentionForwardFuncOptions& o) {
  const int64_t batch = query.size(1), heads = o.num_heads(), features = query.size(2) / heads;
  auto [q, k, v] = projected(query, key, value, o);
  Tensor mask = additive(o.attn_mask(), q.dtype()), padding = additive(o.key_padding_mask(), q.dtype());
  if (o.bias_k().defined() && o.bias_v().defined()) {
    ARGAND_CHECK(ValueError, !o.static_k().defined() && !o.static_v().defined(), kName,
                 ": bias cannot be added to static key or value.");
    k = cat({k, o.bias_k().expand({1, batch, -1})}, 0);
    v = cat({v, o.bias_v().expand({1, batch, -1})}, 0);
    mask = with_key(mask);
    padding = with_key(padding);
  }
  Heads h;
  h.query = split_heads(q, batch, heads);
  h.key = o.static_k().defined() ? static_heads("static_k", o.static_k(), batch, heads, features)
                                 : split_heads(k, batch, heads);
  h.value = o.static_v().defined() ? static_heads("static_v", o.static_v(), batch, heads, features)
                                   : split_heads(v, batch, heads);
  if (o.add_zero_attn()) {
    const Tensor none = zeros({batch, heads, 1, features}, h.key.options());
    h.key = cat({h.key, none}, 2);
    h.value = cat({h.value, none}, 2);
    mask = with_key(mask);
    padding = with_key(padding);
  }
  h.mask = joined_mask(padding, mask, batch, heads, query.size(0), h.key.size(2));
  return h;
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& o) {
  check_inputs(query, key, value, o);
  if (query.dim() == 2) {
    auto batched = o;
    if (o.key_padding_mask().defined()) batched.key_padding_mask(o.key_padding_mask().unsqueeze(0));
    const Tensor q = query.unsqueeze(1), k = key.is_same(query) ? q : key.unsqueeze(1),
                 v = value.is_same(key) ? k : value.unsqueeze(1);
    const auto [out, weights] = multi_head_attention_forward(q, k, v, batched);
    return {out.squeeze(1), weights.defined() ? weights.squeeze(0) : weights};
  }
  const int64_t steps = query.size(0), batch = query.size(1), width = query.size(2);
  const Heads h = make_heads(query, key, value, o);
  const double p = o.training() ? o.dropout_p() : 0;
  Tensor out, weights;
  if (o.need_weights()) {
    const double scale = std::sqrt(static_cast<double>(o.num_heads()) / static_cast<double>(width));
    Tensor scores = (h.query * scale).matmul(h.key.transpose(-2, -1));
    if (h.mask.defined()) scores = scores + h.mask;
    weights = scores.softmax(-1);
    if (p > 0) weights = argand::dropout(weights, p, true);
    out = weights.matmul(h.value);
    if (o.average_attn_weights()) weights = weights.mean(1);
  } else {
    std::optional<Tensor> mask;
    if (h.mask.defined()) mask = h.mask;
    out = scaled_dot_product_attention(h.query, h.key, h.value, mask, p);
  }
  const Tensor joined = out.permute({2, 0, 1, 3}).reshape({steps * batch, width});
  return {linear(joined, o.out_proj_weight(), o.out_proj_bias()).view({steps, batch, -1}), weights};
}

}  // namespace argand::nn::functional
