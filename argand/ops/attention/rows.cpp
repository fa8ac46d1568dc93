// Attention by blocks of queries, composed of ops, for devices without an attention kernel.  Only the weights of one
// block are in memory at a time; the gradient computes them again.
#include <algorithm>
#include <cmath>

#include "argand/exec/forward_mode.h"
#include "argand/ops/attention/args.h"
#include "argand/ops/attention/attention.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operand.h"
#include "argand/ops/random/repeatable_masks.h"

namespace argand::ops {
namespace {

void check_rows(const char* op, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                bool is_causal, int64_t rows) {
  check_attention_operands(op, query, key, value, mask, is_causal);
  ARGAND_CHECK(ShapeError, key.size(1) == query.size(1), op, ": expected key with ", query.size(1), " heads, got ",
               key.size(1));
  ARGAND_CHECK(ValueError, rows > 0, op, ": expected rows above 0, got ", rows);
}

// Some queries of some heads, and the keys that any of them sees.  The blocks of a call, each with all keys, are stored
// one after another in [N, heads, queries, keys].
struct RowBlock {
  int64_t batch, batches, head, heads, query, queries, seen;
};

// `t`, which is [N, heads, rows, columns] or has 1 in place of some, for the queries of a block.
Tensor part_of(const Tensor& t, const RowBlock& b) {
  Tensor part = t;
  if (t.size(0) != 1) part = part.narrow(0, b.batch, b.batches);
  if (t.size(1) != 1) part = part.narrow(1, b.head, b.heads);
  if (t.size(2) != 1) part = part.narrow(2, b.query, b.queries);
  return part;
}
Tensor keys_of(const Tensor& t, const RowBlock& b) {
  return t.narrow(0, b.batch, b.batches).narrow(1, b.head, b.heads).narrow(2, 0, b.seen);
}

class RowAttention {
 public:
  // `a` holds the arguments of the op or of its gradient: both have the ones used here.
  template <class Args>
  RowAttention(const Args& a, const Tensor& random_state)
      : scale_(attention_scale(a.query, a.scale)),
        // Both factors are scaled by the root of the scale: products of large values would overflow float16.
        root_(std::sqrt(std::abs(scale_))),
        query_(a.query * (scale_ < 0 ? -root_ : root_)),
        key_(a.key * root_),
        value_(a.value),
        dropout_p_(a.dropout_p),
        is_causal_(a.is_causal),
        rows_(a.rows),
        random_state_(random_state) {
    if (a.attn_mask.defined()) mask_ = in_four_dims(a.attn_mask);
  }

  void forward(Tensor& out) const {
    each_block([&](const RowBlock& b, const Tensor& kept) {
      Tensor w = weights(b);
      if (kept.defined()) w = w * kept;
      exec::copy_elements(part_of(out, b), w.matmul(keys_of(value_, b)));
    });
  }

  // Writes the gradients of query, key, value and, unless it is empty, the mask.
  void backward(const Tensor& g, std::span<Tensor> grads) const {
    for (Tensor& t : grads.subspan(1)) t.zero_();
    const Tensor grad_mask = grads[3].numel() == 0 ? Tensor() : in_four_dims(grads[3]);
    each_block([&](const RowBlock& b, const Tensor& kept) {
      const Tensor w = weights(b), grad = part_of(g, b);
      Tensor of_weights = grad.matmul(keys_of(value_, b).transpose(-2, -1)), used = w;
      if (kept.defined()) of_weights = of_weights * kept, used = w * kept;
      const Tensor slopes = _softmax_backward_data(of_weights, w, -1, w.dtype());
      const double sign = scale_ < 0 ? -root_ : root_;
      exec::copy_elements(part_of(grads[0], b), slopes.matmul(keys_of(key_, b)) * sign);
      keys_of(grads[1], b).add_(slopes.transpose(-2, -1).matmul(part_of(query_, b)) * root_);
      keys_of(grads[2], b).add_(used.transpose(-2, -1).matmul(grad));
      if (!grad_mask.defined()) return;
      Tensor of_mask = part_of(grad_mask, b);
      of_mask.add_(slopes.sum_to_size(of_mask.sizes()));
    });
  }

  // The factors of all weights.
  Tensor all_kept() const {
    const Tensor all = zeros({query_.size(0), query_.size(1), query_.size(2), key_.size(2)}, query_.options());
    each_block([&](const RowBlock& b, const Tensor& kept) {
      exec::copy_elements(part_of(all, b).narrow(3, 0, b.seen), kept);
    });
    return all;
  }

  // The blocks of such a call.
  int64_t num_blocks() const {
    int64_t n = 0;
    each_part([&](const RowBlock&) { ++n; });
    return n;
  }

 private:
  static Tensor in_four_dims(const Tensor& t) {
    Dims sizes(static_cast<size_t>(4 - t.dim()), 1);
    for (const int64_t n : t.sizes()) sizes.push_back(n);
    return t.view(sizes);
  }

  // Takes whole heads and whole samples if one of them has fewer queries.
  template <class F>
  void each_part(F f) const {
    const int64_t all_batches = query_.size(0), all_heads = query_.size(1), all_queries = query_.size(2),
                  keys = key_.size(2);
    if (all_batches * all_heads * all_queries == 0) return;
    const int64_t queries = std::min(rows_, all_queries),
                  heads = std::clamp<int64_t>(rows_ / all_queries, 1, all_heads),
                  batches = std::clamp<int64_t>(rows_ / (all_queries * all_heads), 1, all_batches);
    RowBlock b{};
    for (b.batch = 0; b.batch < all_batches; b.batch += batches)
      for (b.head = 0; b.head < all_heads; b.head += heads)
        for (b.query = 0; b.query < all_queries; b.query += queries) {
          b.batches = std::min(batches, all_batches - b.batch);
          b.heads = std::min(heads, all_heads - b.head);
          b.queries = std::min(queries, all_queries - b.query);
          b.seen = is_causal_ ? std::min(keys, b.query + b.queries) : keys;
          f(b);
        }
  }
  // Passes the factors of the block's weights; undefined: no factors.
  template <class F>
  void each_block(F f) const {
    std::optional<RepeatableMasks> masks;
    if (dropout_p_ > 0) masks.emplace(random_state_, dropout_p_);
    each_part([&](const RowBlock& b) {
      // Draws a mask for all keys, so that the order of random numbers does not depend on which keys the block sees.
      f(b, masks ? masks->next({b.batches, b.heads, b.queries, key_.size(2)}, query_.dtype()).narrow(3, 0, b.seen)
                 : Tensor());
    });
  }

  // The attention weights of the keys that the block sees.
  Tensor weights(const RowBlock& b) const {
    Tensor scores = part_of(query_, b).matmul(keys_of(key_, b).transpose(-2, -1));
    if (is_causal_) {
      const Tensor allowed = ones({b.queries, b.seen}, TensorOptions(scores.device()).dtype(kBool)).tril(b.query);
      scores = scores + additive_mask(allowed, scores.dtype());
    } else if (mask_.defined()) {
      scores = scores + additive_mask(part_of(mask_, b), scores.dtype());
    }
    return _safe_softmax(scores, -1);
  }

  double scale_, root_;
  Tensor query_, key_, value_, mask_;
  double dropout_p_;
  bool is_causal_;
  int64_t rows_;
  Tensor random_state_;
};

}  // namespace

struct AttentionByRows : Kernel<AttentionByRowsArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_attention_by_rows(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float "
      "dropout_p, bool is_causal, int rows, *, float? scale=None) -> (Tensor output, Tensor random_state)";
  static constexpr auto doc =
      "scaled_dot_product_attention of [N, heads, positions, features] for so many queries at a time, of all heads "
      "together; and where the generator stood for dropout, which the gradient needs.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    check_rows(Args::kName, a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows);
    ARGAND_CHECK(ValueError, a.dropout_p >= 0 && a.dropout_p <= 1, Args::kName,
                 ": dropout probability has to be between 0 and 1, but got ", a.dropout_p);
    return {{{a.query.size(0), a.query.size(1), a.query.size(2), a.value.size(3)}, a.query.dtype()},
            RepeatableMasks::state_meta(a.query.device(), a.dropout_p)};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const RowAttention attention(a, outs[1]);
    const int64_t queries = a.query.size(0) * a.query.size(1) * a.query.size(2);
    RepeatableMasks::take(outs[1], queries * a.key.size(2), attention.num_blocks());
    attention.forward(outs[0]);
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (!g[0].defined()) return out;
    if (exec::is_differentiating()) {
      Tensor kept;
      if (c.dropout_p > 0) {
        const NoGradGuard no_grad;
        kept = RowAttention(c, c.result(1)).all_kept();
      }
      return attention_gradients_in_ops<Grads>(c, g[0], kept);
    }
    std::tie(out[kQuery], out[kKey], out[kValue], out[kAttnMask]) = _scaled_dot_product_attention_by_rows_backward(
        g[0], c.query, c.key, c.value, optional(c.attn_mask), c.result(1), c.dropout_p, c.is_causal, c.rows,
        c.needs(kAttnMask), c.scale);
    if (!c.needs(kAttnMask)) out[kAttnMask] = Tensor();
    return out;
  }
  static void samples(S& s) {
    s->accuracy({32, "weights are rounded to half precision before the second product"});
    s.add({s->real({2, 1, 5, 4}), s->real({2, 1, 3, 4}), s->real({2, 1, 3, 2}), {}, 0, false, 2});
    s.add({s->real({1, 2, 5, 2}), s->real({1, 2, 4, 2}), s->real({1, 2, 4, 2}), {}, 0, true, 2, -0.3});
    s.add({s->real({2, 2, 3, 2}), s->real({2, 2, 4, 2}), s->real({2, 2, 4, 2}), s->boolean({2, 1, 1, 4}), 0, false, 1});
    s.add({s->real({1, 1, 3, 2}), s->real({1, 1, 4, 2}), s->real({1, 1, 4, 2}), s->real({3, 1}), 0, false, 2});
    s.add({s->real({1, 1, 2, 2}), s->real({1, 1, 0, 2}), s->real({1, 1, 0, 2}), {}, 0, false, 8});
    s.add({s->real({1, 1, 3, 2}), s->real({1, 1, 4, 2}), s->real({1, 1, 4, 2}), s->boolean({4}), 0, false, 2});
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 2}), {}, 0, false, 1},
            "expected query, key and value [N, heads, positions, features], got [3, 4], [5, 4] and [5, 2]");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), {}, 0, false, 0},
            "expected rows above 0, got 0");
    s.fails(
        {s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), s->integer({3, 5}, 0, 2), 0, false, 1},
        "expected attn_mask of dtype bool or ");
  }
};
ARGAND_OP(AttentionByRows)

struct AttentionByRowsBackward : Kernel<AttentionByRowsBackwardArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_attention_by_rows_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask, Tensor random_state, float dropout_p, bool is_causal, int rows, bool of_mask, *, float? scale=None) "
      "-> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor grad_mask)";
  static constexpr auto doc =
      "The gradients of query, key, value and, with of_mask, attn_mask (else of no element), for so many queries at a "
      "time.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    constexpr const char* op = Args::kName;
    check_rows(op, a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows);
    const ScalarType dtype = a.query.dtype();
    check_operand(op, "grad_out", a.grad_out, {a.query.size(0), a.query.size(1), a.query.size(2), a.value.size(3)},
                  dtype);
    const TensorMeta state = RepeatableMasks::state_meta(a.query.device(), a.dropout_p);
    check_operand(op, "random_state", a.random_state, state.sizes, state.dtype);
    const Dims none{0};
    return {{a.query.impl().sizes, dtype},
            {a.key.impl().sizes, dtype},
            {a.value.impl().sizes, dtype},
            {a.of_mask && a.attn_mask.defined() ? a.attn_mask.impl().sizes : none, dtype}};
  }
  static void run(const Args& a, std::span<Tensor> outs) { RowAttention(a, a.random_state).backward(a.grad_out, outs); }
  static void samples(S& s) {
    const Tensor q = s->real({1, 2, 3, 2}), k = s->real({1, 2, 4, 2}), v = s->real({1, 2, 4, 2});
    s.fails(
        {s->real({1, 2, 3, 1}), q, k, v, {}, s->integer({0}, 0, 1), 0, false, 1, false},
        "_scaled_dot_product_attention_by_rows_backward: expected grad_out of shape [1, 2, 3, 2], got [1, 2, 3, 1]");
  }
};
ARGAND_OP(AttentionByRowsBackward)

}  // namespace argand::ops
