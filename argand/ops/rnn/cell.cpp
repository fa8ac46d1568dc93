// rnn_tanh_cell, rnn_relu_cell, gru_cell, lstm_cell: one step of a recurrent network.
#include "argand/ops/rnn/cell.h"

#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/rnn/args.h"

namespace argand::ops {
namespace {

RnnState gru_step(const RnnWeights& w, const Tensor& input_gates, const Tensor& h, std::vector<Tensor>* activated) {
  const std::vector<Tensor> x = input_gates.chunk(3, -1), y = linear(h, w.w_hh, optional(w.b_hh)).chunk(3, -1);
  const Tensor reset = (x[0] + y[0]).sigmoid(), update = (x[1] + y[1]).sigmoid();
  const Tensor fresh = (x[2] + y[2] * reset).tanh();
  if (activated) *activated = {reset, update, fresh, y[2]};
  return {(h - fresh) * update + fresh, {}};
}

RnnState lstm_step(const RnnWeights& w, const Tensor& input_gates, const RnnState& state,
                   std::vector<Tensor>* activated) {
  const std::vector<Tensor> sums = (linear(state.h, w.w_hh, optional(w.b_hh)) + input_gates).chunk(4, -1);
  const Tensor in = sums[0].sigmoid(), forget = sums[1].sigmoid(), cell = sums[2].tanh(), out = sums[3].sigmoid();
  if (activated) *activated = {in, forget, cell, out};
  const Tensor c = forget * state.c + in * cell, h = out * c.tanh();
  return {w.w_hr.defined() ? linear(h, w.w_hr) : h, c};
}

// Checks the arguments of a cell: input and states are [N, ...], or all of them are vectors.
void check_cell(const char* op, RnnKind kind, const Tensor& input, const RnnState& state, const RnnWeights& w) {
  const int64_t gates = gates_of(kind);
  ARGAND_CHECK(ShapeError, w.w_ih.dim() == 2 && w.w_hh.dim() == 2, op, ": expected weights with 2 dimensions, got ",
               w.w_ih.sizes(), " and ", w.w_hh.sizes());
  const int64_t hidden = w.w_hh.size(1);
  ARGAND_CHECK(ShapeError, w.w_hh.size(0) == gates * hidden && w.w_ih.size(0) == gates * hidden, op,
               ": expected weights with ", gates, " times as many rows as w_hh has columns, got w_ih ", w.w_ih.sizes(),
               " and w_hh ", w.w_hh.sizes());
  ARGAND_CHECK(ShapeError, input.dim() == 1 || input.dim() == 2, op,
               ": expected input [input_size] or [N, input_size], got ", input.sizes());
  ARGAND_CHECK(ShapeError, input.size(-1) == w.w_ih.size(1), op, ": input has inconsistent input_size: got ",
               input.size(-1), " expected ", w.w_ih.size(1));
  int64_t place = -1;
  for (const Tensor* t : {&state.h, &state.c}) {
    ++place;
    if (!t->defined()) continue;
    ARGAND_CHECK(ShapeError, t->dim() == input.dim() && (t->dim() == 1 || t->size(0) == input.size(0)), op,
                 ": Input batch size ", input.dim() > 1 ? input.size(0) : 1, " doesn't match hidden", place,
                 " batch size ", t->dim() > 1 ? t->size(0) : 1, ", the input is ", input.sizes(), " and the state ",
                 t->sizes());
    ARGAND_CHECK(ShapeError, t->size(-1) == hidden, op, ": hidden", place, " has inconsistent hidden_size: got ",
                 t->size(-1), ", expected ", hidden);
  }
}

RnnState run_cell(const char* op, RnnKind kind, const Tensor& input, const RnnState& state, const RnnWeights& w) {
  check_cell(op, kind, input, state, w);
  return rnn_step(kind, w, linear(input, w.w_ih, optional(w.b_ih)), state);
}

}  // namespace

RnnState rnn_step(RnnKind kind, const RnnWeights& w, const Tensor& input_gates, const RnnState& state,
                  std::vector<Tensor>* activated) {
  if (kind == RnnKind::kGru) return gru_step(w, input_gates, state.h, activated);
  if (kind == RnnKind::kLstm) return lstm_step(w, input_gates, state, activated);
  const Tensor sum = linear(state.h, w.w_hh, optional(w.b_hh)) + input_gates;
  return {kind == RnnKind::kTanh ? sum.tanh() : sum.relu(), {}};
}

struct RnnTanhCell : Composite<RnnTanhCellArgs> {
  static constexpr auto schema =
      "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
      "Tensor";
  static constexpr auto doc = "tanh(w_ih input + b_ih + w_hh hx + b_hh), for [N, ...] or vectors.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    return run_cell("rnn_tanh_cell", RnnKind::kTanh, a.input, {a.hx, {}}, {a.w_ih, a.w_hh, a.b_ih, a.b_hh, {}}).h;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 4}), s->real({4, 3}), s->real({4, 4}), s->real({4}), s->real({4})});
    s.add({s->real({3}), s->real({4}), s->real({4, 3}), s->real({4, 4})});
    s.fails({s->real({2, 3}), s->real({2, 4}), s->real({4, 2}), s->real({4, 4})},
            "rnn_tanh_cell: input has inconsistent input_size: got 3 expected 2");
    s.fails({s->real({2, 3}), s->real({2, 5}), s->real({4, 3}), s->real({4, 4})},
            "rnn_tanh_cell: hidden0 has inconsistent hidden_size: got 5, expected 4");
    s.fails({s->real({2, 3}), s->real({1, 4}), s->real({4, 3}), s->real({4, 4})},
            "rnn_tanh_cell: Input batch size 2 doesn't match hidden0 batch size 1, the input is [2, 3] and the state "
            "[1, 4]");
  }
};
ARGAND_OP(RnnTanhCell)

struct RnnReluCell : Composite<RnnReluCellArgs> {
  static constexpr auto schema =
      "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
      "Tensor";
  static constexpr auto doc = "relu(w_ih input + b_ih + w_hh hx + b_hh), for [N, ...] or vectors.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    return run_cell("rnn_relu_cell", RnnKind::kRelu, a.input, {a.hx, {}}, {a.w_ih, a.w_hh, a.b_ih, a.b_hh, {}}).h;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 4}), s->real({4, 3}), s->real({4, 4}), s->real({4}), s->real({4})});
  }
};
ARGAND_OP(RnnReluCell)

struct GruCell : Composite<GruCellArgs> {
  static constexpr auto schema =
      "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
  static constexpr auto doc =
      "One step of a gated recurrent unit; rows of the weights are those of the reset gate, the update gate and the "
      "new "
      "state.";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    return run_cell("gru_cell", RnnKind::kGru, a.input, {a.hx, {}}, {a.w_ih, a.w_hh, a.b_ih, a.b_hh, {}}).h;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 4}), s->real({12, 3}), s->real({12, 4}), s->real({12}), s->real({12})});
    s.add({s->real({3}), s->real({4}), s->real({12, 3}), s->real({12, 4})});
    s.fails(
        {s->real({2, 3}), s->real({2, 4}), s->real({4, 3}), s->real({4, 4})},
        "gru_cell: expected weights with 3 times as many rows as w_hh has columns, got w_ih [4, 3] and w_hh [4, 4]");
  }
};
ARGAND_OP(GruCell)

struct LstmCell : Composite<LstmCellArgs> {
  static constexpr auto schema =
      "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
      "(Tensor, Tensor)";
  static constexpr auto doc =
      "One step of a long short-term memory from hx = [h, c] to (h, c); rows of the weights are those of the input, "
      "forget, cell and output gates.";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.hx.size() == 2, "lstm_cell: lstm_cell expects two hidden states, got ", a.hx.size());
    RnnState s =
        run_cell("lstm_cell", RnnKind::kLstm, a.input, {a.hx[0], a.hx[1]}, {a.w_ih, a.w_hh, a.b_ih, a.b_hh, {}});
    return {s.h, s.c};
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}),
           {s->real({2, 4}), s->real({2, 4})},
           s->real({16, 3}),
           s->real({16, 4}),
           s->real({16}),
           s->real({16})});
    s.add({s->real({3}), {s->real({4}), s->real({4})}, s->real({16, 3}), s->real({16, 4})});
    s.fails({s->real({2, 3}), {s->real({2, 4})}, s->real({16, 3}), s->real({16, 4})},
            "lstm_cell expects two hidden states, got 1");
  }
};
ARGAND_OP(LstmCell)

}  // namespace argand::ops
