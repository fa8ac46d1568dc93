// Attention on the CPU without the matrix of weights, and its gradient.
#include "argand/kernels/cpu/attention.h"
#include "argand/ops/attention/args.h"
#include "argand/ops/attention/attention.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operand.h"

namespace argand::ops {
namespace {

void check_operands(const char* op, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                    double dropout_p, bool is_causal) {
  check_attention_operands(op, query, key, value, mask, is_causal);
  ARGAND_CHECK(NotImplementedError, dropout_p == 0, op, ": dropout is not supported here, got ", dropout_p);
}

cpu::AttentionOperand operand(const Tensor& t) {
  const Dims& s = t.impl().strides;
  return {t.impl().data(), {s[0], s[1], s[2], s[3]}};
}

// A kernel call, and the tensors it points to, in the type it computes in.
struct CallTensors {
  Tensor query, key, value, mask;
  cpu::Attention call;
  CallTensors(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& attn_mask, bool is_causal,
              std::optional<double> scale) {
    const ScalarType type = op_math_type(q.dtype());
    const auto in_type = [type](const Tensor& t) { return t.dtype() == type ? t : exec::dense(t, type); };
    query = in_type(q);
    key = in_type(k);
    value = in_type(v);
    call = {type,      q.size(0),      q.size(1),    q.size(2),
            k.size(2), q.size(3),      v.size(3),    attention_scale(q, scale),
            is_causal, operand(query), operand(key), operand(value),
            {}};
    if (!attn_mask.defined()) return;
    // Converted in its own shape: the scores' may be many times as large.
    mask = in_type(additive_mask(attn_mask, type));
    const Dims to{q.size(0), q.size(1), q.size(2), k.size(2)};
    mask = exec::alias(mask, to, expanded_strides(mask.sizes(), mask.strides(), to), mask.storage_offset());
    call.mask = operand(mask);
  }
};

}  // namespace

struct FlashAttentionForCpu : Kernel<FlashAttentionForCpuArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool "
      "is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)";
  static constexpr auto doc =
      "scaled_dot_product_attention of [N, heads, positions, features] block by block, without dropout; and the "
      "logarithms of the sums of the exponentials of the scores, which the gradient needs.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kAttnMask), constant_results = bits(1);
  static TensorMetas infer(const Args& a) {
    check_operands(Args::kName, a.query, a.key, a.value, a.attn_mask, a.dropout_p, a.is_causal);
    const int64_t n = a.query.size(0), heads = a.query.size(1), queries = a.query.size(2);
    return {{{n, heads, queries, a.value.size(3)}, a.query.dtype()},
            {{n, heads, queries}, op_math_type(a.query.dtype())}};
  }
  static void cpu(const Args& a, std::span<Tensor> outs) {
    const CallTensors t(a.query, a.key, a.value, a.attn_mask, a.is_causal, a.scale);
    const StagedResult out(outs[0], true, t.call.type), logsumexp(outs[1], true, t.call.type);
    argand::cpu::attention(t.call, out.data(), logsumexp.data());
    for (const StagedResult* r : {&out, &logsumexp}) r->finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (!g[0].defined()) return out;
    if (GradMode::is_enabled()) {
      const auto all = attention_gradients(g[0], c.query, c.key, c.value, c.attn_mask, c.is_causal, c.scale);
      for (size_t i = 0; i < 3; ++i)
        if (c.needs(i)) out[i] = all[i];
      return out;
    }
    std::tie(out[kQuery], out[kKey], out[kValue]) = _scaled_dot_product_flash_attention_for_cpu_backward(
        g[0], c.query, c.key, c.value, c.result(0), c.result(1), 0, c.is_causal, optional(c.attn_mask), c.scale);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 1, 3, 4}), s->real({2, 1, 5, 4}), s->real({2, 1, 5, 2})});
    s.add({s->real({1, 2, 6, 2}), s->real({1, 2, 4, 2}), s->real({1, 2, 4, 2}), 0, true, {}, 0.3});
    s.add({s->real({2, 2, 3, 2}), s->real({2, 2, 4, 2}), s->real({2, 2, 4, 2}), 0, false, s->boolean({2, 1, 1, 4})});
    s.add({s->real({1, 1, 70, 2}, -1, 1), s->real({1, 1, 520, 2}, -1, 1), s->real({1, 1, 520, 2}), 0, false,
           s->real({70, 1})});
    s.add({s->real({1, 1, 2, 2}), s->real({1, 1, 0, 2}), s->real({1, 1, 0, 2})});
    s.fails({s->real({3, 4}), s->real({5, 4}), s->real({5, 2})},
            "expected query, key and value [N, heads, positions, features], got [3, 4], [5, 4] and [5, 2]");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 4, 4})},
            "expected value of shape [1, 1, 5, 4], got [1, 1, 4, 4]");
    s.fails({s->real({1, 1, 3, 4}), s->real({1, 1, 5, 4}), s->real({1, 1, 5, 4}), 0.5},
            "dropout is not supported here");
  }
};
ARGAND_OP(FlashAttentionForCpu)

struct FlashAttentionForCpuBackward : Kernel<FlashAttentionForCpuBackwardArgs> {
  static constexpr auto schema =
      "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
      "Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> "
      "(Tensor grad_query, Tensor grad_key, Tensor grad_value)";
  static constexpr auto doc = "The gradients of query, key and value, block by block.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    constexpr const char* op = Args::kName;
    check_operands(op, a.query, a.key, a.value, a.attn_mask, a.dropout_p, a.is_causal);
    const ScalarType dtype = a.query.dtype();
    const Dims rows{a.query.size(0), a.query.size(1), a.query.size(2)};
    Dims result = rows;
    result.push_back(a.value.size(3));
    check_operand(op, "grad_out", a.grad_out, result, dtype);
    check_operand(op, "out", a.out, result, dtype);
    check_operand(op, "logsumexp", a.logsumexp, rows, op_math_type(dtype));
    return {{a.query.impl().sizes, dtype}, {a.key.impl().sizes, dtype}, {a.value.impl().sizes, dtype}};
  }
  static void cpu(const Args& a, std::span<Tensor> outs) {
    const CallTensors t(a.query, a.key, a.value, a.attn_mask, a.is_causal, a.scale);
    const ScalarType type = t.call.type;
    const Tensor g = exec::dense(a.grad_out, type), out = exec::dense(a.out, type),
                 logsumexp = exec::dense(a.logsumexp, type);
    const StagedResult dq(outs[0], true, type), dk(outs[1], true, type), dv(outs[2], true, type);
    argand::cpu::attention_backward(
        t.call, {g.impl().data(), out.impl().data(), logsumexp.impl().data(), dq.data(), dk.data(), dv.data()});
    for (const StagedResult* r : {&dq, &dk, &dv}) r->finish();
  }
  static void samples(S& s) {
    const Tensor q = s->real({1, 2, 3, 2}), k = s->real({1, 2, 4, 2}), v = s->real({1, 2, 4, 2});
    // Any numbers may stand for the results of the forward pass.
    s.fails({s->real({1, 2, 3, 1}), q, k, v, s->real({1, 2, 3, 2}), s->real({1, 2, 3}), 0, false},
            "_scaled_dot_product_flash_attention_for_cpu_backward: expected grad_out of shape [1, 2, 3, 2], got [1, 2, "
            "3, 1]");
  }
};
ARGAND_OP(FlashAttentionForCpuBackward)

}  // namespace argand::ops
