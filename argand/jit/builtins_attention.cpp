// The fast paths of PyTorch's attention layers for inference, which scripted layers call when no gradient is wanted:
// ops of their own there, and the same computation in several ops here.
#include "argand/jit/builtins_attention.h"

#include <cmath>
#include <limits>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::jit {

namespace {

struct Attention {
  Tensor output, weights;  // weights: of each head
};

std::optional<Tensor> tensor_or_none(const IValue& v) {
  return v.isNone() ? std::nullopt : std::optional<Tensor>(v.toTensor());
}

// A mask of [batch, heads, queries, keys] or of sizes that broadcast to it; true is left out.  `kind`: 0 for one of
// [queries, keys], 1 for one of [batch, keys], 2 for one of all four dimensions.
Tensor broadcast_mask(const BuiltinCall& c, const Tensor& mask, int64_t kind) {
  const Tensor left_out = mask.to(kBool);
  if (kind == 0) return left_out;
  if (kind == 1) return left_out.unsqueeze(1).unsqueeze(1);
  c.need(kind == 2, "expected a mask type of 0, 1 or 2, got ", kind);
  return left_out;
}

// `first`: the position of embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight and proj_bias.
Attention attend(const BuiltinCall& c, const Tensor& query, const Tensor& key, const Tensor& value, size_t first,
                 const IValue& mask, const IValue& mask_type) {
  const int64_t width = c[first].toInt(), heads = c[first + 1].toInt();
  c.need(heads > 0 && width % heads == 0, "expected a width that is a multiple of ", heads, ", got ", width);
  const Tensor &weight = c[first + 2].toTensor(), &bias = c[first + 3].toTensor();
  const auto projected = [&](const Tensor& x, int64_t part) {
    const Tensor y = linear(x, weight.narrow(0, part * width, width), bias.narrow(0, part * width, width));
    return y.view({y.size(0), y.size(1), heads, width / heads}).transpose(1, 2);
  };
  const int64_t head_width = width / heads;
  const Tensor q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(head_width));
  if (!mask.isNone()) {
    const int64_t kind = mask_type.isNone() ? 2 : mask_type.toInt();
    scores = scores.masked_fill(broadcast_mask(c, mask.toTensor(), kind), -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = softmax(scores, -1);
  const Tensor together = matmul(weights, v).transpose(1, 2).reshape({query.size(0), query.size(1), width});
  return {linear(together, c[first + 4].toTensor(), c[first + 5].toTensor()), weights};
}

IValue at(const BuiltinCall& c, size_t i, std::string_view name) {
  const IValue* v = c.given(i, name);
  return v ? *v : IValue();
}

// (query, key, value, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, need_weights,
// average_attn_weights, mask_type)
bool multi_head_attention(const BuiltinCall& c, IValue& out) {
  if (c.size() < 9 || !c[0].isTensor()) return false;
  const IValue need = at(c, 10, "need_weights"), average = at(c, 11, "average_attn_weights");
  const Attention a =
      attend(c, c[0].toTensor(), c[1].toTensor(), c[2].toTensor(), 3, at(c, 9, "mask"), at(c, 12, "mask_type"));
  Tensor weights = empty({0}, a.output.options());
  if (need.isNone() || need.toBool()) weights = average.isNone() || average.toBool() ? a.weights.mean({1}) : a.weights;
  out = ivalue::Tuple::create({IValue(a.output), IValue(weights)});
  return true;
}

// (src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1,
// norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type)
bool encoder_layer(const BuiltinCall& c, IValue& out) {
  if (c.size() < 18 || !c[0].isTensor()) return false;
  const double eps = c[9].toDouble();
  const auto normalized = [&](const Tensor& x, size_t i) {
    return layer_norm(x, {c[1].toInt()}, tensor_or_none(c[i]), tensor_or_none(c[i + 1]), eps);
  };
  const auto attention = [&](const Tensor& x) {
    return attend(c, x, x, x, 1, at(c, 18, "mask"), at(c, 19, "mask_type")).output;
  };
  const auto feed_forward = [&](const Tensor& x) {
    const Tensor inner = linear(x, c[14].toTensor(), tensor_or_none(c[15]));
    return linear(c[7].toBool() ? gelu(inner) : relu(inner), c[16].toTensor(), tensor_or_none(c[17]));
  };
  Tensor x = c[0].toTensor();
  if (c[8].toBool()) {
    x = x + attention(normalized(x, 10));
    out = x + feed_forward(normalized(x, 12));
  } else {
    x = normalized(x + attention(x), 10);
    out = normalized(x + feed_forward(x), 12);
  }
  return true;
}

constexpr NamedBuiltin kTable[] = {{"_native_multi_head_attention", multi_head_attention},
                                   {"_transformer_encoder_layer_fwd", encoder_layer}};

}  // namespace

std::span<const NamedBuiltin> attention_builtins() { return kTable; }

}  // namespace argand::jit
