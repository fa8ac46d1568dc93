// Attention without the matrix of weights, on devices that have kernels for it, and its gradient.
#include "argand/core/no_draws.h"
#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/attention/args.h"
#include "argand/ops/attention/attention.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operand.h"

namespace argand::ops {
namespace {

// Puts positions before heads in memory, as projections leave them, if `like` has that layout: the next projection then
// reads the result without a copy.
Dims strides_like(const Tensor& like, const Dims& sizes) {
  if (like.size(1) == 1 || like.stride(1) >= like.stride(2)) return {};
  return {sizes[1] * sizes[2] * sizes[3], sizes[3], sizes[1] * sizes[3], 1};
}
TensorMeta meta_like(const Tensor& like, const Dims& sizes, ScalarType dtype) {
  return {sizes, dtype, strides_like(like, sizes)};
}

// A mask, and how many elements of each of its rows there are in memory.
struct Mask {
  Tensor values;
  int64_t columns;
};

// The mask of much work on a GPU as its kernels read it fastest: `type`, added, its rows multiples of 16 bytes.  What
// is broadcast stays so.
Mask mask_in_units(const Tensor& given, ScalarType type, int64_t scores) {
  constexpr int64_t kMuch = int64_t{1} << 22;
  Tensor mask = given;
  for (int64_t d = 0; d < mask.dim(); ++d)
    if (mask.stride(d) == 0 && mask.size(d) > 1) mask = mask.narrow(d, 0, 1);
  const int64_t keys = mask.dim() > 0 ? mask.size(-1) : 1, unit = 16 / element_size(type);
  const auto in_units = [&] {
    for (int64_t d = 0; d + 1 < mask.dim(); ++d)
      if (mask.size(d) > 1 && mask.stride(d) % unit != 0) return false;
    return mask.dtype() == type && mask.stride(-1) == 1 && keys % unit == 0 &&
           reinterpret_cast<uintptr_t>(mask.impl().data()) % 16 == 0;
  };
  if (scores < kMuch || keys == 1 || in_units()) return {mask, keys};
  const int64_t columns = (keys + unit - 1) / unit * unit;
  Dims sizes = mask.impl().sizes;
  sizes.back() = columns;
  const Tensor all = exec::new_tensor({sizes, type}, mask.device());
  all.narrow(-1, 0, keys).copy_(additive_mask(mask, type));
  return {all.narrow(-1, 0, keys), columns};
}

// The tensors of a call, in the computing dtype and with contiguous rows.
class CallTensors {
 public:
  CallTensors(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout_p, bool is_causal,
              std::optional<double> scale)
      : type_(q.is_cpu() ? op_math_type(q.dtype()) : q.dtype()), call{type_,      q.size(0),  q.size(1),
                                                                      q.size(2),  k.size(2),  q.size(3),
                                                                      v.size(3),  k.size(1),  attention_scale(q, scale),
                                                                      is_causal,  operand(q), operand(k),
                                                                      operand(v), {},         type_,
                                                                      0,          dropout_p,  nullptr} {
    if (!mask.defined()) return;
    // Converted in its own shape: the scores' may be many times as large.
    const Dims to{q.size(0), q.size(1), q.size(2), k.size(2)};
    const auto [own, columns] = q.is_cpu() ? Mask{exec::dense(additive_mask(mask, type_), type_), k.size(2)}
                                           : mask_in_units(mask, type_, numel_of(to));
    kept_.push_back(exec::alias(own, to, expanded_strides(own.sizes(), own.strides(), to), own.storage_offset()));
    call.mask = array<AttentionOperand>(kept_.back());
    call.mask_type = own.dtype();
    call.mask_columns = columns;
  }

  AttentionOperand operand(const Tensor& t) {
    kept_.push_back(t.dtype() == type_ && t.stride(3) == 1 ? t : exec::dense(t, type_));
    return array<AttentionOperand>(kept_.back());
  }
  // The result arrives in `out` with finish().
  AttentionResult result(const Tensor& out) {
    const bool as_it_is = out.dtype() == type_ && out.stride(3) == 1;
    staged_.emplace_back(out, as_it_is ? out : exec::new_tensor({out.impl().sizes, type_}, out.device()));
    return array<AttentionResult>(staged_.back().second);
  }
  void finish() const {
    for (const auto& [out, staged] : staged_)
      if (!staged.is_same(out)) exec::copy_elements(out, staged);
  }
  Device device() const { return kept_.front().device(); }

 private:
  template <class Array>
  static Array array(const Tensor& t) {
    const Dims& s = t.impl().strides;
    return {t.impl().data(), {s[0], s[1], s[2], s[3]}};
  }

  std::vector<Tensor> kept_;
  std::vector<std::pair<Tensor, Tensor>> staged_;
  ScalarType type_;

 public:
  Attention call;
};

}  // namespace

struct FusedAttention : Kernel<FusedAttentionArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_fused_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float dropout_p, "
      "bool is_causal, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor random_state)";
  static constexpr auto doc =
      "scaled_dot_product_attention of query [N, heads, L, E] block by block, of key [N, H, S, E] and value [N, H, S, "
      "Ev], where H divides heads; the logarithms of the sums of the exponentials of the scores, and where the "
      "generator stood for dropout, which the gradient needs.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kAttnMask), constant_results = bits(1) | bits(2);
  static TensorMetas infer(const Args& a) {
    check_attention_operands(Args::kName, a.query, a.key, a.value, a.attn_mask, a.is_causal);
    ARGAND_CHECK(ValueError, a.dropout_p >= 0 && a.dropout_p <= 1, Args::kName,
                 ": dropout probability has to be between 0 and 1, but got ", a.dropout_p);
    ARGAND_CHECK(NotImplementedError, a.dropout_p == 0 || !a.query.is_cpu(), Args::kName,
                 ": dropout is not supported on the CPU, got ", a.dropout_p);
    const int64_t n = a.query.size(0), heads = a.query.size(1), queries = a.query.size(2);
    const ScalarType dtype = a.query.dtype();
    return {meta_like(a.query, {n, heads, queries, a.value.size(3)}, dtype),
            {{n, heads, queries}, op_math_type(dtype)},
            {{a.dropout_p > 0 ? 2 : 0}, kLong}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    CallTensors t(a.query, a.key, a.value, a.attn_mask, a.dropout_p, a.is_causal, a.scale);
    t.call.random_state = outs[2].impl().data();
    const Device device = t.device();
    const Generator generator =
        a.dropout_p > 0 ? backend_of(device.type()).default_generator(device.index()) : Generator();
    if (generator.defined()) check_draws_allowed();
    blocks::attention.on(device)(t.call, {t.result(outs[0]), outs[1].impl().data(), generator.impl_ptr().get()});
    t.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (!g[0].defined()) return out;
    if (exec::is_differentiating()) {
      ARGAND_CHECK(NotImplementedError, c.dropout_p == 0, Args::kName,
                   ": second derivatives with dropout are not supported");
      return attention_gradients_in_ops<Grads>(c, g[0]);
    }
    std::tie(out[kQuery], out[kKey], out[kValue]) =
        _scaled_dot_product_fused_attention_backward(g[0], c.query, c.key, c.value, optional(c.attn_mask), c.result(0),
                                                     c.result(1), c.result(2), c.dropout_p, c.is_causal, c.scale);
    return out;
  }
  static void samples(S& s) {
    s->accuracy({4, "weights are scaled again for each block of keys with a larger score"});
    s->accuracy({.ulps = 4,
                 .reason = "weights are rounded to half precision before the second product",
                 .device = kCUDA,
                 .rounds_parts = true});
    s.add({s->real({2, 1, 3, 4}), s->real({2, 1, 5, 4}), s->real({2, 1, 5, 2}), {}, 0, false});
    s.add({s->real({1, 2, 6, 2}), s->real({1, 2, 4, 2}), s->real({1, 2, 4, 2}), {}, 0, true, 0.3});
    s.add({s->real({2, 2, 3, 2}), s->real({2, 2, 4, 2}), s->real({2, 2, 4, 2}), s->boolean({2, 1, 1, 4}), 0, false});
    s.add({s->real({1, 1, 70, 2}, -1, 1), s->real({1, 1, 520, 2}, -1, 1), s->real({1, 1, 520, 2}), s->real({70, 1}), 0,
           false});
    s.add({s->real({1, 2, 20, 8}, -1, 1), s->real({1, 1, 72, 8}, -1, 1), s->real({1, 1, 72, 8}), s->real({2, 20, 72}),
           0, false});  // rows of the mask in units of 16 bytes
    s.add({s->real({1, 4, 3, 8}, -1, 1), s->real({1, 2, 5, 8}, -1, 1), s->real({1, 2, 5, 72}), {}, 0, false});
    s.add({s->real({1, 1, 2, 2}), s->real({1, 1, 0, 2}), s->real({1, 1, 0, 2}), {}, 0, false});
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 2}), {}, 0, false},
            "expected query, key and value [N, heads, positions, features], got [3, 4], [5, 4] and [5, 2]");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 4, 4}), {}, 0, false},
            "expected value of shape [1, 1, 5, 4], got [1, 1, 4, 4]");
    s.fails({s->real({1, 3, 3, 4}), s->real({1, 2, 5, 4}), s->real({1, 2, 5, 4}), {}, 0, false},
            "Number of heads in key and value must divide the number of heads in query, got 2 and 3");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), {}, 1.5, false},
            "dropout probability has to be between 0 and 1, but got 1.5");
  }
};
ARGAND_OP(FusedAttention)

struct FusedAttentionBackward : Kernel<FusedAttentionBackwardArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_fused_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask, Tensor out, Tensor logsumexp, Tensor random_state, float dropout_p, bool is_causal, *, float? "
      "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)";
  static constexpr auto doc = "The gradients of query, key and value, block by block.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    constexpr const char* op = Args::kName;
    check_attention_operands(op, a.query, a.key, a.value, a.attn_mask, a.is_causal);
    const ScalarType dtype = a.query.dtype();
    const Dims rows{a.query.size(0), a.query.size(1), a.query.size(2)};
    Dims result = rows;
    result.push_back(a.value.size(3));
    check_operand(op, "grad_out", a.grad_out, result, dtype);
    check_operand(op, "out", a.out, result, dtype);
    check_operand(op, "logsumexp", a.logsumexp, rows, op_math_type(dtype));
    check_operand(op, "random_state", a.random_state, {a.dropout_p > 0 ? 2 : 0}, kLong);
    const auto like = [dtype](const Tensor& t) { return meta_like(t, t.impl().sizes, dtype); };
    return {like(a.query), like(a.key), like(a.value)};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    CallTensors t(a.query, a.key, a.value, a.attn_mask, a.dropout_p, a.is_causal, a.scale);
    const ScalarType of_sums = op_math_type(t.call.type);
    const Tensor random_state = exec::dense(a.random_state), logsumexp = exec::dense(a.logsumexp, of_sums);
    Tensor numbers;
    if (!logsumexp.is_cpu()) numbers = exec::new_tensor({{2, logsumexp.numel()}, of_sums}, logsumexp.device());
    t.call.random_state = random_state.impl().data();
    blocks::attention_backward.on(t.device())(
        t.call, {t.operand(a.grad_out), t.operand(a.out), logsumexp.impl().data(), t.result(outs[0]), t.result(outs[1]),
                 t.result(outs[2]), data_or_null(numbers)});
    t.finish();
  }
  static void samples(S& s) {
    const Tensor q = s->real({1, 2, 3, 2}), k = s->real({1, 2, 4, 2}), v = s->real({1, 2, 4, 2});
    // The results of the forward pass may be arbitrary numbers here.
    s.fails({s->real({1, 2, 3, 1}),
             q,
             k,
             v,
             {},
             s->real({1, 2, 3, 2}),
             s->real({1, 2, 3}),
             s->integer({0}, 0, 1),
             0,
             false},
            "_scaled_dot_product_fused_attention_backward: expected grad_out of shape [1, 2, 3, 2], got [1, 2, 3, 1]");
  }
};
ARGAND_OP(FusedAttentionBackward)

}  // namespace argand::ops
