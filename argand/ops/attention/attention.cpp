// scaled_dot_product_attention, and its plain form, which any device runs.
#include "argand/ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/exec/autocast_scope.h"
#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/attention/args.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"
#include "argand/ops/operand.h"

namespace argand::ops {

double attention_scale(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

Tensor additive_mask(const Tensor& mask, ScalarType dtype) {
  if (mask.dtype() != kBool) return mask;
  return zeros(mask.sizes(), TensorOptions(mask.device()).dtype(dtype))
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

Tensor causal_mask(const Tensor& query, const Tensor& key) {
  const Tensor allowed = ones({query.size(-2), key.size(-2)}, TensorOptions(query.device()).dtype(kBool)).tril();
  return additive_mask(allowed, query.dtype());
}

void check_shared_heads(const char* op, int64_t given, int64_t heads) {
  ARGAND_CHECK(ShapeError, given > 0 ? heads % given == 0 : heads == 0, op,
               ": Number of heads in key and value must divide the number of heads in query, got ", given, " and ",
               heads);
}

void check_attention_operands(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& mask, bool is_causal) {
  ARGAND_CHECK(ShapeError, query.dim() == 4 && key.dim() == 4 && value.dim() == 4, op,
               ": expected query, key and value [N, heads, positions, features], got ", query.sizes(), ", ",
               key.sizes(), " and ", value.sizes());
  const int64_t n = query.size(0), heads = query.size(1), kv_heads = key.size(1);
  check_shared_heads(op, kv_heads, heads);
  check_operand(op, "key", key, {n, kv_heads, key.size(2), query.size(3)}, query.dtype());
  check_operand(op, "value", value, {n, kv_heads, key.size(2), value.size(3)}, query.dtype());
  if (!mask.defined()) return;
  ARGAND_CHECK(ValueError, !is_causal, op, ": Explicit attn_mask should not be set when is_causal=True");
  ARGAND_CHECK(DtypeError, mask.dtype() == kBool || mask.dtype() == query.dtype(), op,
               ": expected attn_mask of dtype bool or ", query.dtype(), ", got ", mask.dtype());
  const Dims scores{n, heads, query.size(2), key.size(2)};
  ARGAND_CHECK(ShapeError, mask.dim() <= 4 && broadcast_shapes(mask.sizes(), scores, op) == scores, op,
               ": expected attn_mask that broadcasts to ", scores, ", got ", mask.sizes());
}

std::array<Tensor, 4> attention_gradients(const Tensor& g, const Tensor& query, const Tensor& key, const Tensor& value,
                                          const Tensor& attn_mask, bool is_causal, std::optional<double> given,
                                          const Tensor& kept) {
  const int64_t kv_heads = key.size(1), group = kv_heads == 0 ? 1 : query.size(1) / kv_heads;
  if (group > 1) {
    const auto all = attention_gradients(g, query, key.repeat_interleave(group, 1), value.repeat_interleave(group, 1),
                                         attn_mask, is_causal, given, kept);
    const auto of_group = [&](const Tensor& t) { return t.unflatten(1, {kv_heads, group}).sum(2); };
    return {all[0], of_group(all[1]), of_group(all[2]), all[3]};
  }
  const double scale = attention_scale(query, given);
  Tensor scores = query.matmul(key.transpose(-2, -1)) * scale;
  const Tensor mask = is_causal ? causal_mask(query, key) : attn_mask;
  if (mask.defined()) scores = scores + additive_mask(mask, scores.dtype());
  const Tensor weights = _safe_softmax(scores, -1);
  Tensor of_weights = g.matmul(value.transpose(-2, -1)), used = weights;
  if (kept.defined()) of_weights = of_weights * kept, used = weights * kept;
  const Tensor of_scores = weights * (of_weights - (of_weights * weights).sum(-1, true)), s = of_scores * scale;
  return {s.matmul(key), s.transpose(-2, -1).matmul(query), used.transpose(-2, -1).matmul(g), of_scores};
}

namespace {

// Sizes of weights in bytes: one that counts as small, and one that fits a CPU's caches.
constexpr int64_t kFewWeights = int64_t{1} << 26, kCachedWeights = int64_t{1} << 22;

// Half-precision weights and their products would be rounded before they are summed.  (On a GPU, products are summed in
// float32, and half precision is used for speed.)
bool computes_wide(const Tensor& query) { return query.is_cpu() && op_math_type(query.dtype()) != query.dtype(); }

// Checks the user's arguments of both forms.
template <class Args>
void check_attention(const char* op, const Args& a) {
  for (const auto& [name, t] : {std::pair("query", a.query), std::pair("key", a.key), std::pair("value", a.value)}) {
    ARGAND_CHECK(ShapeError, t.dim() >= 2, op,
                 ": Expected query, key, and value to all be at least 2 dimensional, but got ", name, " of shape ",
                 t.sizes());
    ARGAND_CHECK(DtypeError, t.dtype() == a.query.dtype() && is_floating_point(t.dtype()), op,
                 ": Expected query, key, and value to have the same floating-point dtype, but got query.dtype: ",
                 a.query.dtype(), " and ", name, ".dtype: ", t.dtype());
  }
  ARGAND_CHECK(ShapeError, a.query.size(-1) == a.key.size(-1), op, ": expected key with ", a.query.size(-1),
               " features (query is ", a.query.sizes(), "), got ", a.key.sizes());
  ARGAND_CHECK(ShapeError, a.key.size(-2) == a.value.size(-2), op, ": expected value with ", a.key.size(-2),
               " positions (key is ", a.key.sizes(), "), got ", a.value.sizes());
  ARGAND_CHECK(ValueError, a.dropout_p >= 0 && a.dropout_p <= 1, op,
               ": dropout probability has to be between 0 and 1, but got ", a.dropout_p);
  if (!a.attn_mask.defined()) return;
  ARGAND_CHECK(ValueError, !a.is_causal, op, ": Explicit attn_mask should not be set when is_causal=True");
  ARGAND_CHECK(DtypeError, a.attn_mask.dtype() == kBool || a.attn_mask.dtype() == a.query.dtype(), op,
               ": Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: ",
               a.attn_mask.dtype(), " and query.dtype: ", a.query.dtype());
}

// Repeats each head of key and value for the heads of query that it serves.
template <class Args>
void share_heads(const char* op, Args& a) {
  if (!a.enable_gqa) return;
  ARGAND_CHECK(ShapeError, a.query.dim() >= 3 && a.key.dim() >= 3 && a.value.dim() >= 3, op,
               ": expected tensors [..., heads, positions, features] with enable_gqa, got query ", a.query.sizes());
  const int64_t heads = a.query.size(-3);
  for (Tensor* t : {&a.key, &a.value}) {
    const int64_t given = t->size(-3);
    check_shared_heads(op, given, heads);
    if (given != heads) *t = t->repeat_interleave(heads / given, -3);
  }
}

}  // namespace

struct SafeSoftmax : Composite<SafeSoftmaxArgs> {
  static constexpr auto schema = "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc = "softmax, with zeros instead of NaN where all elements along dim are minus infinity.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const exec::AutocastScope plain;  // the result has self's dtype
    const Tensor none = a.self.eq(-std::numeric_limits<double>::infinity()).all(a.dim, true);
    return a.self.masked_fill(none, 0).softmax(a.dim, a.dtype).masked_fill(none, 0);
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), 1});
    s.add({s->real({2, 3}).masked_fill(s->boolean({2, 3}), -std::numeric_limits<double>::infinity()), 0});
  }
};
ARGAND_OP(SafeSoftmax)
ARGAND_NODE(SafeSoftmax)

struct AttentionMath : Composite<AttentionMathArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> "
      "(Tensor, Tensor)";
  static constexpr auto doc =
      "scaled_dot_product_attention by way of all weights, which are the second result. dropout_mask says which stay "
      "(true), instead of a draw.";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr int variants = kFunction;
  static Result compose(const Args& given) {
    constexpr const char* op = "_scaled_dot_product_attention_math";
    Args a = given;
    check_attention(op, a);
    share_heads(op, a);
    if (computes_wide(a.query)) {
      const ScalarType dtype = a.query.dtype();
      const auto wide = [](const Tensor& t) { return t.to(kFloat); };
      const auto [result, weights] = weighted(wide(a.query), wide(a.key), wide(a.value), a);
      return {result.to(dtype), weights.to(dtype)};
    }
    return weighted(a.query, a.key, a.value, a);
  }
  static Result weighted(const Tensor& query, const Tensor& key, const Tensor& value, const Args& a) {
    // Both factors are scaled by the root of the scale: products of large values would overflow float16.
    const double scale = attention_scale(query, a.scale), root = std::sqrt(std::abs(scale));
    Tensor scores = (query * (scale < 0 ? -root : root)).matmul((key * root).transpose(-2, -1));
    const Tensor mask = a.is_causal ? causal_mask(query, key) : a.attn_mask;
    if (mask.defined()) scores = scores + additive_mask(mask, scores.dtype());
    Tensor weights = _safe_softmax(scores, -1);
    if (a.dropout_p > 0 && a.dropout_mask.defined())
      return {weights.masked_fill(a.dropout_mask.logical_not(), 0).matmul(value * (1 / (1 - a.dropout_p))), weights};
    if (a.dropout_p > 0) weights = dropout(weights, a.dropout_p, true);
    return {weights.matmul(value), weights};
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), s->real({2, 5, 4}), s->real({2, 5, 2})});
    s.add({s->real({3, 4}), s->real({5, 4}), s->real({5, 4}), s->real({3, 5}), 0, false, {}, 0.3});
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 4}), s->boolean({3, 5}), 0, true},
            "Explicit attn_mask should not be set when is_causal=True");
  }
};
ARGAND_OP(AttentionMath)

struct ScaledDotProductAttention : Composite<ScaledDotProductAttentionArgs> {
  static constexpr auto schema =
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor";
  static constexpr auto doc =
      "softmax(scale * query key^T + attn_mask) value for query [..., L, E], key [..., S, E] and value [..., S, Ev]; "
      "leading dimensions broadcast. A bool mask says which keys take part; is_causal lets query i see keys 0 ... i; a "
      "query without keys gives zeros. scale is 1 / sqrt(E) if not given. With enable_gqa a head of key and value "
      "serves several of query. The [L, S] weights are not all in memory at once, unless they take less than 64 MiB "
      "and the device has no kernel for the call (dropout on the CPU, float64 and more than 128 features on a GPU, a "
      "mask with a gradient).";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& given) {
    constexpr const char* op = "scaled_dot_product_attention";
    Args a = given;
    check_attention(op, a);
    const bool fused = is_fused(a);
    if (fused && suits_kernel(a)) return by_kernel(a, a.query, a.key, a.value, a.attn_mask);
    share_heads(op, a);
    if (!fused && weights_are_small(a))
      return std::get<0>(_scaled_dot_product_attention_math(a.query, a.key, a.value, optional(a.attn_mask), a.dropout_p,
                                                            a.is_causal, {}, a.scale));
    return with_one_batch(a, fused);
  }
  static bool trains_mask(const Args& a) {
    return a.attn_mask.defined() && (a.attn_mask.requires_grad() || exec::is_differentiated(a.attn_mask));
  }
  // Whether the device has a kernel for it.
  static bool is_fused(const Args& a) {
    const Device& device = a.query.device();
    return !trains_mask(a) && (a.dropout_p == 0 || !device.is_cpu()) &&
           (device.is_meta() ||
            (blocks::takes_attention.has(device.type()) &&
             blocks::takes_attention.on(device)(a.query.dtype(), a.query.size(-1), a.value.size(-1))));
  }
  // Whether its tensors are [N, heads, positions, features] without anything to broadcast.
  static bool suits_kernel(const Args& a) {
    if (a.query.dim() != 4 || a.key.dim() != 4 || a.value.dim() != 4) return false;
    const int64_t n = a.query.size(0), heads = a.query.size(1), given = a.key.size(1);
    return a.key.size(0) == n && a.value.size(0) == n && a.value.size(1) == given &&
           (given == heads || (a.enable_gqa && given > 0 && heads % given == 0));
  }
  static Tensor by_kernel(const Args& a, const Tensor& query, const Tensor& key, const Tensor& value,
                          const Tensor& mask) {
    return std::get<0>(
        _scaled_dot_product_fused_attention(query, key, value, optional(mask), a.dropout_p, a.is_causal, a.scale));
  }
  // Takes as many queries at a time as keep their weights small.
  static Tensor by_rows(const Args& a, const Tensor& query, const Tensor& key, const Tensor& value,
                        const Tensor& mask) {
    const int64_t each = key.size(2) * element_size(query.dtype()),
                  most = query.is_cpu() ? kCachedWeights : kFewWeights;
    const int64_t rows = std::max<int64_t>(1, most / std::max<int64_t>(1, each));
    return std::get<0>(_scaled_dot_product_attention_by_rows(query, key, value, optional(mask), a.dropout_p,
                                                             a.is_causal, rows, a.scale));
  }
  // Whether all weights may be in memory, which saves computing them again for the gradient.
  static bool weights_are_small(const Args& a) {
    const auto lead = [](const Tensor& t) { return t.sizes().slice(0, t.sizes().size() - 2); };
    const char* op = Args::kName;
    const int64_t heads =
        numel_of(broadcast_shapes(broadcast_shapes(lead(a.query), lead(a.key), op), lead(a.value), op));
    return heads * a.query.size(-2) * a.key.size(-2) * element_size(a.query.dtype()) <= kFewWeights;
  }
  // Calls an op whose tensors are [N, heads, positions, features].
  static Tensor with_one_batch(const Args& a, bool fused) {
    const auto lead = [](const Tensor& t) { return t.sizes().slice(0, t.sizes().size() - 2); };
    const char* op = Args::kName;
    const Dims batch = broadcast_shapes(broadcast_shapes(lead(a.query), lead(a.key), op), lead(a.value), op);
    Dims heads = batch;
    if (batch.size() != 2) heads = {1, numel_of(batch)};
    const auto spread = [&](const Tensor& t) {
      Dims to = batch, flat = heads;
      for (const int64_t n : t.sizes().slice(t.sizes().size() - 2)) {
        to.push_back(n);
        flat.push_back(n);
      }
      return t.expand(to).reshape(flat);
    };
    Tensor mask = a.attn_mask;
    if (mask.defined() && mask.dim() > 2 && batch.size() != 2) {
      Dims to = batch;
      for (const int64_t n : {mask.size(-2), mask.size(-1)}) to.push_back(n);
      mask = mask.expand(to).reshape({1, heads[1], mask.size(-2), mask.size(-1)});
    }
    Tensor query = spread(a.query), key = spread(a.key), value = spread(a.value), out;
    const ScalarType dtype = a.query.dtype();
    if (fused) {
      out = by_kernel(a, query, key, value, mask);
    } else if (computes_wide(query)) {
      if (mask.defined() && mask.dtype() == dtype) mask = mask.to(kFloat);
      out = by_rows(a, query.to(kFloat), key.to(kFloat), value.to(kFloat), mask).to(dtype);
    } else {
      out = by_rows(a, query, key, value, mask);
    }
    Dims sizes = batch;
    for (const int64_t n : {a.query.size(-2), a.value.size(-1)}) sizes.push_back(n);
    return out.reshape(sizes);
  }
  static void samples(S& s) {
    s.add({s->real({2, 2, 3, 4}), s->real({2, 2, 5, 4}), s->real({2, 2, 5, 3})});
    s.add({s->real({2, 5, 4}), s->real({2, 5, 4}), s->real({2, 5, 4}), {}, 0, true});
    s.add({s->real({3, 4}), s->real({5, 4}), s->real({5, 2}), s->real({3, 5}), 0, false, 0.7});
    s.add({s->real({2, 3, 3, 4}), s->real({2, 3, 5, 4}), s->real({2, 3, 5, 4}), s->boolean({2, 1, 3, 5})});
    s.add({s->real({4, 3, 2}), s->real({2, 5, 2}), s->real({2, 5, 2}), {}, 0, false, {}, true});
    s.add({s->real({2, 1, 3, 4}), s->real({5, 4}), s->real({3, 5, 2})});
    s.fails({s->real({4}), s->real({5, 4}), s->real({5, 4})},
            "Expected query, key, and value to all be at least 2 dimensional, but got query of shape [4]");
    s.fails({s->real({3, 4}), s->real({5, 3}), s->real({5, 4})},
            "scaled_dot_product_attention: expected key with 4 features (query is [3, 4]), got [5, 3]");
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({6, 4})},
            "scaled_dot_product_attention: expected value with 5 positions (key is [5, 4]), got [6, 4]");
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 4}), s->integer({3, 5}, 0, 2)},
            "Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: int64");
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 4}), s->boolean({3, 5}), 0, true},
            "Explicit attn_mask should not be set when is_causal=True");
    s.fails({s->real({3, 3, 2}), s->real({2, 5, 2}), s->real({2, 5, 2}), {}, 0, false, {}, true},
            "Number of heads in key and value must divide the number of heads in query, got 2 and 3");
  }
};
ARGAND_OP(ScaledDotProductAttention)

}  // namespace argand::ops
