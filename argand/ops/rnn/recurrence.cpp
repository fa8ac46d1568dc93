// A recurrent layer in one direction over a whole padded sequence as one op, and its gradient as another.
#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operand.h"
#include "argand/ops/rnn/args.h"
#include "argand/ops/rnn/composed_recurrence.h"

namespace argand::ops {
namespace {

RnnKind kind_of(const char* op, int64_t kind) {
  ARGAND_CHECK(ValueError, kind >= 0 && kind <= 3, op, ": expected kind 0 to 3, got ", kind);
  return static_cast<RnnKind>(kind);
}

void check_start(const char* op, RnnKind kind, const Tensor& hx, const Tensor& cx, const Tensor& w_hh, int64_t batch,
                 ScalarType dtype) {
  ARGAND_CHECK(ShapeError, hx.dim() == 2, op, ": expected hx [N, hidden], got ", hx.sizes());
  const int64_t hidden = hx.size(1);
  check_operand(op, "hx", hx, {batch, hidden}, dtype);
  ARGAND_CHECK(ValueError, cx.defined() == (kind == RnnKind::kLstm), op, ": expected cx of an LSTM, and of it alone");
  if (cx.defined()) check_operand(op, "cx", cx, {batch, hidden}, dtype);
  check_operand(op, "w_hh", w_hh, {gates_of(kind) * hidden, hidden}, dtype);
}

// The dtype in which a device computes: the CPU has kernels for float and double.
ScalarType type_on(const Device& device, ScalarType dtype) { return device.is_cpu() ? op_math_type(dtype) : dtype; }

// The states before each step, [steps, batch, hidden].
Tensor states_before(const Tensor& output, const Tensor& hx, bool reverse) {
  const int64_t steps = output.size(0);
  return reverse ? cat({output.narrow(0, 1, steps - 1), hx.unsqueeze(0)}, 0)
                 : cat({hx.unsqueeze(0), output.narrow(0, 0, steps - 1)}, 0);
}

template <class S>
void recurrence_samples(S& s) {
  for (int64_t kind = 0; kind < 4; ++kind) {
    const int64_t gates = gates_of(static_cast<RnnKind>(kind));
    const auto cell = [&](int64_t batch, int64_t hidden) {
      return kind == 3 ? s->real({batch, hidden}, -1, 1) : Tensor();
    };
    s.add({s->real({3, 2, gates * 2}, -1, 1), s->real({2, 2}, -1, 1), cell(2, 2), s->real({gates * 2, 2}, -1, 1),
           s->real({gates * 2}, -1, 1), kind, false});
    s.add({s->real({2, 9, gates * 3}, -1, 1),
           s->real({9, 3}, -1, 1),
           cell(9, 3),
           s->real({gates * 3, 3}, -1, 1),
           {},
           kind,
           true});
  }
}

}  // namespace

struct Recurrent : Kernel<RecurrentArgs> {
  static constexpr auto schema =
      "_recurrence(Tensor gates, Tensor hx, Tensor? cx, Tensor w_hh, Tensor? b_hh, int kind, bool reverse) -> (Tensor "
      "output, Tensor cn, Tensor saved)";
  static constexpr auto doc =
      "The outputs [T, N, hidden] of one direction of a recurrent layer, from gates [T, N, gates * hidden], the "
      "input's "
      "part, and the state before; of an LSTM the last c; and what the gradient needs. kind: 0 tanh, 1 relu, 2 GRU, 3 "
      "LSTM.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_results = bits(2);
  static TensorMetas infer(const Args& a) {
    const char* op = Args::kName;
    const RnnKind kind = kind_of(op, a.kind);
    ARGAND_CHECK(ShapeError, a.gates.dim() == 3 && a.gates.size(0) > 0, op,
                 ": expected gates [T, N, gates * hidden] with at least one step, got ", a.gates.sizes());
    const int64_t steps = a.gates.size(0), batch = a.gates.size(1);
    const ScalarType dtype = a.gates.dtype();
    check_start(op, kind, a.hx, a.cx, a.w_hh, batch, dtype);
    const int64_t hidden = a.hx.size(1), width = gates_of(kind) * hidden;
    check_operand(op, "gates", a.gates, {steps, batch, width}, dtype);
    if (a.b_hh.defined()) check_operand(op, "b_hh", a.b_hh, {width}, dtype);
    const bool lstm = kind == RnnKind::kLstm;
    return {{{steps, batch, hidden}, dtype},
            {lstm ? Dims{batch, hidden} : Dims{0}, dtype},
            {{steps, batch, saved_of(kind) * hidden}, op_math_type(dtype)}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = type_on(a.gates.device(), a.gates.dtype());
    const Tensor gates = exec::dense(a.gates, type), transposed = exec::dense(a.w_hh.t(), type),
                 h = exec::dense(a.hx, type), c = exec::dense(a.cx, type), bias = exec::dense(a.b_hh, type);
    const StagedResult output(outs[0], true, type), last_c(outs[1], true, type);
    blocks::recurrence.on(gates.device())({static_cast<RnnKind>(a.kind), type, gates.size(0), gates.size(1), h.size(1),
                                           a.reverse, h.impl().data(), data_or_null(c)},
                                          {gates.impl().data(), transposed.impl().data(), data_or_null(bias),
                                           output.data(), last_c.data(), outs[2].impl().data()});
    for (const StagedResult* r : {&output, &last_c}) r->finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (!g[0].defined() && !g[1].defined()) return out;
    const Tensor grad_output = g[0].defined() ? g[0] : zeros_like(c.result(0)),
                 grad_cn = c.cx.defined() ? g[1] : Tensor();  // empty except for LSTMs
    if (exec::is_differentiating()) {                         // composed of ops, which can be differentiated again
      const ComposedRecurrence composed(static_cast<RnnKind>(c.kind), c.gates, c.hx, c.cx, c.w_hh, c.b_hh, c.reverse);
      const auto all = composed.gradients(grad_output, grad_cn);
      for (size_t i = 0; i < all.size(); ++i)
        if (c.needs(i)) out[i] = all[i];
      return out;
    }
    const auto [x, y, h, cell] = _recurrence_backward(grad_output, optional(grad_cn), c.result(0), c.result(2), c.hx,
                                                      optional(c.cx), c.w_hh, c.kind, c.reverse);
    out[kGates] = x;
    out[kHx] = h;
    if (c.needs(kCx)) out[kCx] = cell;
    const Tensor state_gates = c.kind == 2 ? y : x;
    if (c.needs(kWHh))
      out[kWHh] = state_gates.flatten(0, 1).t().matmul(states_before(c.result(0), c.hx, c.reverse).flatten(0, 1));
    if (c.needs(kBHh)) out[kBHh] = state_gates.sum({0, 1});
    return out;
  }
  static void samples(S& s) {
    recurrence_samples(s);
    s.fails({s->real({3, 2, 4}), s->real({2, 3}), {}, s->real({3, 3}), {}, 0, false},
            "_recurrence: expected gates of shape [3, 2, 3], got [3, 2, 4]");
    s.fails({s->real({3, 2, 4}), s->real({2, 1}), {}, s->real({4, 1}), {}, 3, false},
            "_recurrence: expected cx of an LSTM, and of it alone");
  }
};
ARGAND_OP(Recurrent)

struct RecurrentBackward : Kernel<RecurrentBackwardArgs> {
  static constexpr auto schema =
      "_recurrence_backward(Tensor grad_output, Tensor? grad_cn, Tensor output, Tensor saved, Tensor hx, Tensor? cx, "
      "Tensor w_hh, int kind, bool reverse) -> (Tensor grad_gates, Tensor grad_state_gates, Tensor grad_hx, Tensor "
      "grad_cx)";
  static constexpr auto doc =
      "The gradients of the input's and, of a GRU, where it is another, of the state's part of the gates; and of the "
      "state before.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    const char* op = Args::kName;
    const RnnKind kind = kind_of(op, a.kind);
    ARGAND_CHECK(ShapeError, a.output.dim() == 3, op, ": expected output [T, N, hidden], got ", a.output.sizes());
    const int64_t steps = a.output.size(0), batch = a.output.size(1), hidden = a.output.size(2);
    const ScalarType dtype = a.output.dtype();
    check_start(op, kind, a.hx, a.cx, a.w_hh, batch, dtype);
    check_operand(op, "grad_output", a.grad_output, {steps, batch, hidden}, dtype);
    check_operand(op, "saved", a.saved, {steps, batch, saved_of(kind) * hidden}, op_math_type(dtype));
    const Dims gates{steps, batch, gates_of(kind) * hidden}, state{batch, hidden};
    if (a.grad_cn.defined()) check_operand(op, "grad_cn", a.grad_cn, state, dtype);
    return {{gates, dtype},
            {kind == RnnKind::kGru ? gates : Dims{0}, dtype},
            {state, dtype},
            {kind == RnnKind::kLstm ? state : Dims{0}, dtype}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = type_on(a.output.device(), a.output.dtype());
    const Tensor g = exec::dense(a.grad_output, type), grad_c = exec::dense(a.grad_cn, type),
                 output = exec::dense(a.output, type), saved = exec::dense(a.saved), h = exec::dense(a.hx, type),
                 c = exec::dense(a.cx, type), weight = exec::dense(a.w_hh, type);
    const StagedResult dx(outs[0], true, type), dy(outs[1], true, type), dh(outs[2], true, type),
        dc(outs[3], true, type);
    blocks::recurrence_backward.on(g.device())(
        {static_cast<RnnKind>(a.kind), type, output.size(0), output.size(1), output.size(2), a.reverse, h.impl().data(),
         data_or_null(c)},
        {weight.impl().data(), output.impl().data(), saved.impl().data(), g.impl().data(), data_or_null(grad_c),
         dx.data(), dy.data(), dh.data(), dc.data()});
    for (const StagedResult* r : {&dx, &dy, &dh, &dc}) r->finish();
  }
  static void samples(S& s) {
    s.fails({s->real({3, 2, 1}),
             {},
             s->real({3, 2, 3}),
             s->real({3, 2, 0}),
             s->real({2, 3}),
             {},
             s->real({3, 3}),
             0,
             false},
            "_recurrence_backward: expected grad_output of shape [3, 2, 3], got [3, 2, 1]");
  }
};
ARGAND_OP(RecurrentBackward)

}  // namespace argand::ops
