// rnn_tanh, rnn_relu, gru, lstm: whole sequences through layers of recurrent cells, padded or packed.
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/rnn/args.h"
#include "argand/ops/rnn/cell.h"
#include "argand/ops/rnn/packed.h"
#include "argand/ops/rnn/side_by_side.h"

namespace argand::ops {
namespace {

// A sequence as packed rows: step t has batch_sizes[t] rows, which never increase.  A padded sequence [T, N, ...] is
// the case in which all steps have N rows.
struct Sequence {
  Tensor data;  // [sum of batch_sizes, features]
  Dims batch_sizes;
};

struct Network {
  const char* op;
  RnnKind kind;
  int64_t layers, directions;
  double dropout;  // between layers; 0 outside training
  std::vector<RnnWeights> weights;
  RnnState start;  // each [layers * directions, N, features]
};

struct Pass {
  Tensor data;
  RnnState state;
};

Tensor first_rows(const Tensor& t, int64_t count) { return t.defined() ? t.narrow(0, 0, count) : t; }
Tensor rows_from(const Tensor& t, int64_t begin, int64_t end) {
  return t.defined() ? t.narrow(0, begin, end - begin) : t;
}
Tensor joined(const Tensor& a, const Tensor& b) { return a.defined() ? cat({a, b}, 0) : a; }

Pass run_forward(RnnKind kind, const RnnWeights& w, const std::vector<Tensor>& gates, const RnnState& start) {
  std::vector<Tensor> outputs;
  RnnState state = start, done;  // done: the last states of sequences that have ended, the longest of them first
  bool any_done = false;
  for (const Tensor& step : gates) {
    const int64_t rows = step.size(0), before = state.h.size(0);
    if (rows < before) {
      const RnnState ended{rows_from(state.h, rows, before), rows_from(state.c, rows, before)};
      done = any_done ? RnnState{joined(ended.h, done.h), joined(ended.c, done.c)} : ended;
      any_done = true;
      state = {first_rows(state.h, rows), first_rows(state.c, rows)};
    }
    state = rnn_step(kind, w, step, state);
    outputs.push_back(state.h);
  }
  if (any_done) state = {joined(state.h, done.h), joined(state.c, done.c)};
  return {cat(outputs, 0), state};
}

Pass run_backward(RnnKind kind, const RnnWeights& w, const std::vector<Tensor>& gates, const RnnState& start) {
  std::vector<Tensor> outputs(gates.size());
  int64_t rows = gates.back().size(0);
  RnnState state{first_rows(start.h, rows), first_rows(start.c, rows)};
  for (size_t i = gates.size(); i-- > 0;) {
    const int64_t now = gates[i].size(0);
    if (now > rows) {  // shorter sequences start here
      state = {joined(state.h, rows_from(start.h, rows, now)), joined(state.c, rows_from(start.c, rows, now))};
      rows = now;
    }
    state = rnn_step(kind, w, gates[i], state);
    outputs[i] = state.h;
  }
  return {cat(outputs, 0), state};
}

// Whether one op takes sequences of one length: nothing is projected, and dtypes are not mixed, as under autocast.
bool is_one_op(const RnnWeights& w, const Tensor& gates, const RnnState& start) {
  const ScalarType dtype = gates.dtype();
  return !w.w_hr.defined() && start.h.dtype() == dtype && w.w_hh.dtype() == dtype &&
         (!start.c.defined() || start.c.dtype() == dtype) && (!w.b_hh.defined() || w.b_hh.dtype() == dtype);
}

// Whether it also takes packed sequences of several lengths: Note [Packed sequences side by side].
bool is_filled_up(const Tensor& gates, IntArrayRef batch_sizes) {
  constexpr int64_t kMost = 4;  // times the rows
  const auto steps = static_cast<int64_t>(batch_sizes.size());
  return gates.device().is_accelerator() && steps * batch_sizes[0] <= kMost * gates.size(0);
}

// The outputs [steps, batch, hidden] of gates [steps * batch, width], and the last c.
struct AtOnce {
  Tensor output, c;
  AtOnce(RnnKind kind, const RnnWeights& w, const Tensor& gates, int64_t steps, const RnnState& start, bool reverse) {
    const auto [all, last_c, saved] =
        _recurrence(gates.view({steps, gates.size(0) / steps, gates.size(1)}), start.h, optional(start.c), w.w_hh,
                    optional(w.b_hh), static_cast<int64_t>(kind), reverse);
    output = all;
    if (start.c.defined()) c = last_c;
  }
};

Pass run_at_once(RnnKind kind, const RnnWeights& w, const Tensor& gates, int64_t steps, const RnnState& start,
                 bool reverse) {
  const AtOnce all(kind, w, gates, steps, start, reverse);
  return {all.output.flatten(0, 1), {all.output.select(0, reverse ? 0 : steps - 1), all.c}};
}

Pass run_filled_up(RnnKind kind, const RnnWeights& w, const Tensor& gates, IntArrayRef batch_sizes,
                   const RnnState& start, bool reverse) {
  const SideBySide batch(batch_sizes, gates.device(), reverse);
  const AtOnce all(kind, w, batch.padded(kind, gates), batch.steps(), start, false);
  const Tensor outputs = all.output.flatten(0, 1);
  return {batch.packed(outputs), {batch.last(outputs), all.c}};
}

Pass run_by_steps(RnnKind kind, const RnnWeights& w, const Tensor& gates, IntArrayRef batch_sizes,
                  const RnnState& start, bool reverse) {
  return (reverse ? run_backward : run_forward)(kind, w, gates.split_with_sizes(batch_sizes, 0), start);
}

Pass run_layer(RnnKind kind, const RnnWeights& w, const Tensor& gates, IntArrayRef batch_sizes, const RnnState& start,
               bool reverse) {
  if (is_one_op(w, gates, start)) {
    if (batch_sizes[0] == batch_sizes[batch_sizes.size() - 1])
      return run_at_once(kind, w, gates, static_cast<int64_t>(batch_sizes.size()), start, reverse);
    if (is_filled_up(gates, batch_sizes)) return run_filled_up(kind, w, gates, batch_sizes, start, reverse);
  }
  return run_by_steps(kind, w, gates, batch_sizes, start, reverse);
}

struct NetworkResult {
  Tensor data, h, c;
};

NetworkResult run_network(const Network& net, const Sequence& in) {
  const auto states = [](const Tensor& t) { return t.defined() ? t.unbind(0) : std::vector<Tensor>(); };
  const std::vector<Tensor> h = states(net.start.h), c = states(net.start.c);
  std::vector<Tensor> last_h, last_c;
  Tensor data = in.data;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < net.directions; ++direction) {
      const auto k = static_cast<size_t>(layer * net.directions + direction);
      const RnnWeights& w = net.weights[k];
      // The input's part of all steps is one product.
      const Tensor gates = linear(data, w.w_ih, optional(w.b_ih));
      const RnnState start{h[k], c.empty() ? Tensor() : c[k]};
      const Pass pass = run_layer(net.kind, w, gates, in.batch_sizes, start, direction == 1);
      outputs.push_back(pass.data);
      last_h.push_back(pass.state.h);
      if (pass.state.c.defined()) last_c.push_back(pass.state.c);
    }
    data = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
    if (net.dropout != 0 && layer + 1 < net.layers) data = dropout(data, net.dropout, true);
  }
  return {data, stack(last_h, 0), last_c.empty() ? Tensor() : stack(last_c, 0)};
}

// ---- from the arguments of an op, with every check

struct NetworkOptions {
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

void check_weights(const Network& net, int64_t input_size) {
  const bool lstm = net.kind == RnnKind::kLstm;
  const int64_t output = net.start.h.size(2), hidden = lstm ? net.start.c.size(2) : output,
                rows = gates_of(net.kind) * hidden;
  const auto check = [&](size_t k, const char* name, const Tensor& t, const Dims& expected) {
    if (t.defined())
      ARGAND_CHECK(ShapeError, t.sizes() == IntArrayRef(expected), net.op, ": expected ", name, " of layer ",
                   static_cast<int64_t>(k) / net.directions, " of shape ", expected, ", got ", t.sizes());
  };
  for (size_t k = 0; k < net.weights.size(); ++k) {
    const RnnWeights& w = net.weights[k];
    const int64_t in = static_cast<int64_t>(k) < net.directions ? input_size : output * net.directions;
    check(k, "w_ih", w.w_ih, {rows, in});
    check(k, "w_hh", w.w_hh, {rows, output});
    check(k, "b_ih", w.b_ih, {rows});
    check(k, "b_hh", w.b_hh, {rows});
    check(k, "w_hr", w.w_hr, {output, hidden});
  }
}

void check_states(const Network& net, int64_t batch) {
  for (const Tensor* t : {&net.start.h, &net.start.c}) {
    if (!t->defined()) continue;
    ARGAND_CHECK(
        ShapeError, t->dim() == 3 && t->size(0) == net.layers * net.directions && t->size(1) == batch && t->size(2) > 0,
        net.op, ": Expected hidden size (", net.layers * net.directions, ", ", batch, ", *), got ", t->sizes());
  }
}

Network make_network(const char* op, RnnKind kind, const RnnState& start, const std::vector<Tensor>& params,
                     const NetworkOptions& o, const Sequence& in) {
  ARGAND_CHECK(ValueError, o.num_layers > 0, op, ": num_layers must be greater than zero, got ", o.num_layers);
  ARGAND_CHECK(ValueError, o.dropout >= 0 && o.dropout <= 1, op,
               ": dropout probability has to be between 0 and 1, but got ", o.dropout);
  Network net{op, kind, o.num_layers, o.bidirectional ? 2 : 1, o.train ? o.dropout : 0, {}, start};
  check_states(net, in.batch_sizes[0]);
  const bool projects = kind == RnnKind::kLstm && start.h.size(2) != start.c.size(2);
  for (const Tensor& p : params)
    ARGAND_CHECK(ValueError, p.defined(), op, ": expected parameters that are tensors, got an undefined one");
  const size_t each = size_t{2} + (o.has_biases ? 2U : 0U) + (projects ? 1U : 0U),
               count = static_cast<size_t>(net.layers * net.directions);
  ARGAND_CHECK(ValueError, params.size() == count * each, op, ": got an incorrect number of RNN parameters: expected ",
               count * each, ", got ", params.size());
  for (size_t k = 0; k < count; ++k) {
    const Tensor* p = params.data() + k * each;
    const size_t biases = o.has_biases ? 2 : 0;
    net.weights.push_back(
        {p[0], p[1], biases ? p[2] : Tensor(), biases ? p[3] : Tensor(), projects ? p[2 + biases] : Tensor()});
  }
  check_weights(net, in.data.size(1));
  return net;
}

Sequence packed(const char* op, const Tensor& data, const Tensor& batch_sizes) {
  ARGAND_CHECK(ShapeError, data.dim() == 2, op, ": expected packed data [rows, input_size], got ", data.sizes());
  Sequence out{data, batch_sizes_of(op, batch_sizes)};
  int64_t rows = 0;
  for (const int64_t n : out.batch_sizes) rows += n;
  ARGAND_CHECK(ShapeError, rows == data.size(0), op, ": expected as many rows of data as batch_sizes add up to, ", rows,
               ", got ", data.sizes());
  return out;
}

// Converts a padded sequence to rows, and back.
class Padded {
 public:
  Padded(const char* op, const Tensor& input, bool batch_first) : batch_first_(batch_first) {
    ARGAND_CHECK(ShapeError, input.dim() == 3, op, ": input must have 3 dimensions, got ", input.dim());
    const Tensor by_step = batch_first ? input.transpose(0, 1) : input;
    steps_ = by_step.size(0);
    batch_ = by_step.size(1);
    ARGAND_CHECK(ShapeError, steps_ > 0, op, ": Expected sequence length to be larger than 0 in RNN");
    sequence_ = {by_step.reshape({steps_ * batch_, by_step.size(2)}), Dims(static_cast<size_t>(steps_), batch_)};
  }
  const Sequence& sequence() const { return sequence_; }
  Tensor padded(const Tensor& data) const {
    const Tensor by_step = data.view({steps_, batch_, data.size(1)});
    return batch_first_ ? by_step.transpose(0, 1) : by_step;
  }

 private:
  bool batch_first_;
  int64_t steps_, batch_;
  Sequence sequence_;
};

template <class Args>
NetworkOptions options_of(const Args& a) {
  return {a.has_biases, a.num_layers, a.dropout, a.train, a.bidirectional};
}

template <class Args>
std::tuple<Tensor, Tensor> run_padded(const char* op, RnnKind kind, const Args& a) {
  const Padded p(op, a.input, a.batch_first);
  const NetworkResult r =
      run_network(make_network(op, kind, {a.hx, {}}, a.params, options_of(a), p.sequence()), p.sequence());
  return {p.padded(r.data), r.h};
}

template <class Args>
std::tuple<Tensor, Tensor> run_packed(const char* op, RnnKind kind, const Args& a) {
  const Sequence in = packed(op, a.data, a.batch_sizes);
  const NetworkResult r = run_network(make_network(op, kind, {a.hx, {}}, a.params, options_of(a), in), in);
  return {r.data, r.h};
}

RnnState lstm_state(const std::vector<Tensor>& hx) {
  ARGAND_CHECK(ValueError, hx.size() == 2, "lstm: lstm expects two hidden states, got ", hx.size());
  return {hx[0], hx[1]};
}

// Parameters of samples: hidden size 2, input size 3; one layer or two, of one direction or two.
std::vector<Tensor> sample_params(SampleSink& s, RnnKind kind, int64_t layers, int64_t directions, bool biases,
                                  bool projects = false) {
  std::vector<Tensor> out;
  const int64_t hidden = projects ? 3 : 2, rows = gates_of(kind) * hidden;
  for (int64_t k = 0; k < layers * directions; ++k) {
    out.push_back(s.real({rows, k < directions ? 3 : 2 * directions}, -1, 1));
    out.push_back(s.real({rows, 2}, -1, 1));
    if (biases) out.insert(out.end(), {s.real({rows}), s.real({rows})});
    if (projects) out.push_back(s.real({2, hidden}));
  }
  return out;
}

template <class S>
void padded_samples(S& s, RnnKind kind) {
  s.add({s->real({4, 2, 3}), s->real({1, 2, 2}), sample_params(*s.operator->(), kind, 1, 1, true), true, 1, 0, false,
         false, false});
  s.add({s->real({2, 3, 3}), s->real({4, 2, 2}), sample_params(*s.operator->(), kind, 2, 2, false), false, 2, 0.5,
         false, true, true});
}
template <class S>
void packed_samples(S& s, RnnKind kind) {
  s.add({s->real({6, 3}), literal_sizes({3, 2, 1}), s->real({4, 3, 2}),
         sample_params(*s.operator->(), kind, 2, 2, true), true, 2, 0, false, true});
}

}  // namespace

struct RnnTanhInput : Composite<RnnTanhInputArgs> {
  static constexpr auto schema =
      "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "Elman networks with tanh: the outputs [T, N, directions * hidden] of the last layer for input [T, N, "
      "input_size] "
      "([N, T, ...] with batch_first), and the last states [layers * directions, N, hidden]. params are w_ih, w_hh "
      "and, "
      "with has_biases, b_ih and b_hh of each direction of each layer.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_padded("rnn_tanh", RnnKind::kTanh, a); }
  static void samples(S& s) {
    padded_samples(s, RnnKind::kTanh);
    s.fails({s->real({4, 3}), s->real({1, 2, 2}), {}, true, 1, 0, false, false, false},
            "rnn_tanh: input must have 3 dimensions, got 2");
    s.fails({s->real({0, 2, 3}), s->real({1, 2, 2}), {}, true, 1, 0, false, false, false},
            "rnn_tanh: Expected sequence length to be larger than 0 in RNN");
    s.fails({s->real({4, 2, 3}), s->real({1, 2, 2}), {}, true, 1, 0, false, false, false},
            "rnn_tanh: got an incorrect number of RNN parameters: expected 4, got 0");
    s.fails({s->real({4, 2, 3}), s->real({1, 3, 2}), {}, true, 1, 0, false, false, false},
            "rnn_tanh: Expected hidden size (1, 2, *), got [1, 3, 2]");
    s.fails({s->real({4, 2, 5}), s->real({1, 2, 2}), sample_params(*s.operator->(), RnnKind::kTanh, 1, 1, true), true,
             1, 0, false, false, false},
            "rnn_tanh: expected w_ih of layer 0 of shape [2, 5], got [2, 3]");
  }
};
ARGAND_OP(RnnTanhInput)

struct RnnTanhData : Composite<RnnTanhDataArgs> {
  static constexpr auto schema =
      "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
      "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
  static constexpr auto doc = "The same for a packed sequence, whose outputs are packed likewise.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_packed("rnn_tanh", RnnKind::kTanh, a); }
  static void samples(S& s) {
    packed_samples(s, RnnKind::kTanh);
    s.fails({s->real({5, 3}), literal_sizes({3, 2, 1}), s->real({1, 3, 2}), {}, true, 1, 0, false, false},
            "rnn_tanh: expected as many rows of data as batch_sizes add up to, 6, got [5, 3]");
    s.fails({s->real({6, 3}), literal_sizes({1, 2, 3}), s->real({1, 3, 2}), {}, true, 1, 0, false, false},
            "rnn_tanh: expected batch_sizes that are positive and never become larger, got 2 after 1");
  }
};
ARGAND_OP(RnnTanhData)

struct RnnReluInput : Composite<RnnReluInputArgs> {
  static constexpr auto schema =
      "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)";
  static constexpr auto doc = "rnn_tanh with relu instead of tanh.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_padded("rnn_relu", RnnKind::kRelu, a); }
  static void samples(S& s) { padded_samples(s, RnnKind::kRelu); }
};
ARGAND_OP(RnnReluInput)

struct RnnReluData : Composite<RnnReluDataArgs> {
  static constexpr auto schema =
      "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
      "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
  static constexpr auto doc = "The same for a packed sequence, whose outputs are packed likewise.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_packed("rnn_relu", RnnKind::kRelu, a); }
  static void samples(S& s) { packed_samples(s, RnnKind::kRelu); }
};
ARGAND_OP(RnnReluData)

struct GruInput : Composite<GruInputArgs> {
  static constexpr auto schema =
      "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
      "bool bidirectional, bool batch_first) -> (Tensor, Tensor)";
  static constexpr auto doc = "Gated recurrent units; arguments and results are those of rnn_tanh, cells of gru_cell.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_padded("gru", RnnKind::kGru, a); }
  static void samples(S& s) { padded_samples(s, RnnKind::kGru); }
};
ARGAND_OP(GruInput)

struct GruData : Composite<GruDataArgs> {
  static constexpr auto schema =
      "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
      "dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
  static constexpr auto doc = "The same for a packed sequence, whose outputs are packed likewise.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return run_packed("gru", RnnKind::kGru, a); }
  static void samples(S& s) { packed_samples(s, RnnKind::kGru); }
};
ARGAND_OP(GruData)

struct LstmInput : Composite<LstmInputArgs> {
  static constexpr auto schema =
      "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
      "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "Long short-term memories: outputs, last h and last c from hx = [h, c]. Arguments are those of rnn_tanh, cells "
      "of "
      "lstm_cell; if h is narrower than c, each direction of each layer has w_hr [output, hidden] as its last "
      "parameter.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    const Padded p("lstm", a.input, a.batch_first);
    const NetworkResult r = run_network(
        make_network("lstm", RnnKind::kLstm, lstm_state(a.hx), a.params, options_of(a), p.sequence()), p.sequence());
    return {p.padded(r.data), r.h, r.c};
  }
  static void samples(S& s) {
    const RnnKind kind = RnnKind::kLstm;
    s.add({s->real({4, 2, 3}),
           {s->real({1, 2, 2}), s->real({1, 2, 2})},
           sample_params(*s.operator->(), kind, 1, 1, true),
           true,
           1,
           0,
           false,
           false,
           false});
    s.add({s->real({2, 3, 3}),
           {s->real({4, 2, 2}), s->real({4, 2, 2})},
           sample_params(*s.operator->(), kind, 2, 2, false),
           false,
           2,
           0.5,
           false,
           true,
           true});
    s.add({s->real({2, 1, 3}),
           {s->real({2, 1, 2}), s->real({2, 1, 3})},
           sample_params(*s.operator->(), kind, 1, 2, true, true),
           true,
           1,
           0,
           true,
           true,
           false});
    s.fails({s->real({4, 2, 3}), {s->real({1, 2, 2})}, {}, true, 1, 0, false, false, false},
            "lstm expects two hidden states, got 1");
  }
};
ARGAND_OP(LstmInput)

struct LstmData : Composite<LstmDataArgs> {
  static constexpr auto schema =
      "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
      "dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)";
  static constexpr auto doc = "The same for a packed sequence, whose outputs are packed likewise.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    const Sequence in = packed("lstm", a.data, a.batch_sizes);
    const NetworkResult r =
        run_network(make_network("lstm", RnnKind::kLstm, lstm_state(a.hx), a.params, options_of(a), in), in);
    return {r.data, r.h, r.c};
  }
  static void samples(S& s) {
    s.add({s->real({6, 3}),
           literal_sizes({3, 2, 1}),
           {s->real({4, 3, 2}), s->real({4, 3, 2})},
           sample_params(*s.operator->(), RnnKind::kLstm, 2, 2, true),
           true,
           2,
           0,
           false,
           true});
  }
};
ARGAND_OP(LstmData)

}  // namespace argand::ops
