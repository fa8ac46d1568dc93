// Attention by blocks of queries, in ops: for devices without a kernel of their own.  The weights of one block are in
// memory at a time; the gradient computes them again.
#include <algorithm>
#include <cmath>

#include "argand/ops/attention/args.h"
#include "argand/ops/attention/attention.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operand.h"

namespace argand::ops {
namespace {

void check_rows(const char* op, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                bool is_causal, int64_t rows) {
  check_attention_operands(op, query, key, value, mask, is_causal);
  ARGAND_CHECK(ShapeError, key.size(1) == query.size(1), op, ": expected key with ", query.size(1), " heads, got ",
               key.size(1));
  ARGAND_CHECK(ValueError, rows > 0, op, ": expected rows above 0, got ", rows);
}

// Queries [begin, begin + count), and the keys that any of them sees.
struct RowBlock {
  int64_t begin, count, seen;
};

class RowAttention {
 public:
  RowAttention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool is_causal,
               int64_t rows, std::optional<double> scale)
      : scale_(attention_scale(query, scale)),
        // Both factors take the root of the scale: products of large ones would leave the range of float16.
        root_(std::sqrt(std::abs(scale_))),
        query_(query * (scale_ < 0 ? -root_ : root_)),
        key_(key * root_),
        value_(value),
        mask_(mask),
        is_causal_(is_causal),
        rows_(rows) {}

  Tensor keys_of(const Tensor& t, const RowBlock& b) const { return t.narrow(2, 0, b.seen); }
  Tensor queries_of(const Tensor& t, const RowBlock& b) const { return t.narrow(2, b.begin, b.count); }

  template <class F>
  void each_block(F f) const {
    const int64_t queries = query_.size(2), keys = key_.size(2);
    for (int64_t begin = 0; begin < queries; begin += rows_) {
      const int64_t count = std::min(rows_, queries - begin);
      f(RowBlock{begin, count, is_causal_ ? std::min(keys, begin + count) : keys});
    }
  }

  // Of the keys that the block sees.
  Tensor weights(const RowBlock& b) const {
    Tensor scores = queries_of(query_, b).matmul(keys_of(key_, b).transpose(-2, -1));
    if (is_causal_) {
      const Tensor allowed = ones({b.count, b.seen}, TensorOptions(scores.device()).dtype(kBool)).tril(b.begin);
      scores = scores + additive_mask(allowed, scores.dtype());
    } else if (mask_.defined()) {
      const bool has_rows = mask_.dim() > 1 && mask_.size(-2) != 1;
      scores = scores + additive_mask(has_rows ? mask_.narrow(-2, b.begin, b.count) : mask_, scores.dtype());
    }
    return _safe_softmax(scores, -1);
  }

  void forward(Tensor& out) const {
    each_block(
        [&](const RowBlock& b) { exec::copy_elements(queries_of(out, b), weights(b).matmul(keys_of(value_, b))); });
  }

  // Into grads of query, key and value.
  void backward(const Tensor& g, std::span<Tensor> grads) const {
    bool first = true;
    each_block([&](const RowBlock& b) {
      const Tensor w = weights(b), grad = queries_of(g, b);
      const Tensor slopes = _softmax_backward_data(grad.matmul(keys_of(value_, b).transpose(-2, -1)), w, -1, w.dtype());
      const double sign = scale_ < 0 ? -root_ : root_;
      exec::copy_elements(queries_of(grads[0], b), slopes.matmul(keys_of(key_, b)) * sign);
      const Tensor of_key = slopes.transpose(-2, -1).matmul(queries_of(query_, b)) * root_,
                   of_value = w.transpose(-2, -1).matmul(grad);
      for (const auto& [to, part] : {std::pair(grads[1], of_key), std::pair(grads[2], of_value)}) {
        if (first && b.seen < to.size(2)) to.zero_();  // keys that this block does not see
        const Tensor seen = keys_of(to, b);
        exec::copy_elements(seen, first ? part : seen + part);
      }
      first = false;
    });
    if (first)
      for (Tensor& t : grads) t.zero_();
  }

 private:
  double scale_, root_;
  Tensor query_, key_, value_, mask_;
  bool is_causal_;
  int64_t rows_;
};

}  // namespace

struct AttentionByRows : Kernel<AttentionByRowsArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_attention_by_rows(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool "
      "is_causal, "
      "int rows, *, float? scale=None) -> Tensor";
  static constexpr auto doc =
      "scaled_dot_product_attention of [N, heads, positions, features] without dropout, for so many queries at a time.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kAttnMask);
  static TensorMeta infer(const Args& a) {
    check_rows(Args::kName, a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows);
    return {{a.query.size(0), a.query.size(1), a.query.size(2), a.value.size(3)}, a.query.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    RowAttention(a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows, a.scale).forward(out);
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    if (GradMode::is_enabled()) return attention_gradients_in_ops<Grads>(c, g);
    Grads out(c.num_tensors());
    std::tie(out[kQuery], out[kKey], out[kValue]) = _scaled_dot_product_attention_by_rows_backward(
        g, c.query, c.key, c.value, optional(c.attn_mask), c.is_causal, c.rows, c.scale);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 1, 5, 4}), s->real({2, 1, 3, 4}), s->real({2, 1, 3, 2}), {}, false, 2});
    s.add({s->real({1, 2, 5, 2}), s->real({1, 2, 4, 2}), s->real({1, 2, 4, 2}), {}, true, 2, -0.3});
    s.add({s->real({2, 2, 3, 2}), s->real({2, 2, 4, 2}), s->real({2, 2, 4, 2}), s->boolean({2, 1, 1, 4}), false, 1});
    s.add({s->real({1, 1, 3, 2}), s->real({1, 1, 4, 2}), s->real({1, 1, 4, 2}), s->real({3, 1}), false, 2});
    s.add({s->real({1, 1, 2, 2}), s->real({1, 1, 0, 2}), s->real({1, 1, 0, 2}), {}, false, 8});
    s.add({s->real({1, 1, 3, 2}), s->real({1, 1, 4, 2}), s->real({1, 1, 4, 2}), s->boolean({4}), false, 2});
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 2}), {}, false, 1},
            "expected query, key and value [N, heads, positions, features], got [3, 4], [5, 4] and [5, 2]");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), {}, false, 0},
            "expected rows above 0, got 0");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), s->integer({3, 5}, 0, 2), false, 1},
            "expected attn_mask of dtype bool or ");
  }
};
ARGAND_OP(AttentionByRows)

struct AttentionByRowsBackward : Kernel<AttentionByRowsBackwardArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_attention_by_rows_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask, bool is_causal, int rows, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor "
      "grad_value)";
  static constexpr auto doc = "The gradients of query, key and value, for so many queries at a time.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    constexpr const char* op = Args::kName;
    check_rows(op, a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows);
    const ScalarType dtype = a.query.dtype();
    check_operand(op, "grad_out", a.grad_out, {a.query.size(0), a.query.size(1), a.query.size(2), a.value.size(3)},
                  dtype);
    return {{a.query.impl().sizes, dtype}, {a.key.impl().sizes, dtype}, {a.value.impl().sizes, dtype}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    RowAttention(a.query, a.key, a.value, a.attn_mask, a.is_causal, a.rows, a.scale).backward(a.grad_out, outs);
  }
  static void samples(S& s) {
    const Tensor q = s->real({1, 2, 3, 2}), k = s->real({1, 2, 4, 2}), v = s->real({1, 2, 4, 2});
    s.fails(
        {s->real({1, 2, 3, 1}), q, k, v, {}, false, 1},
        "_scaled_dot_product_attention_by_rows_backward: expected grad_out of shape [1, 2, 3, 2], got [1, 2, 3, 1]");
  }
};
ARGAND_OP(AttentionByRowsBackward)

}  // namespace argand::ops
