#include "argand/ops/rnn/composed_recurrence.h"

#include <algorithm>

#include "argand/ops/maybe.h"

namespace argand::ops {

ComposedRecurrence::ComposedRecurrence(RnnKind kind, const Tensor& gates, const Tensor& hx, const Tensor& cx,
                                       const Tensor& w_hh, const Tensor& b_hh, bool reverse)
    : kind_(kind), w_hh_(w_hh), b_hh_(b_hh) {
  const std::vector<Tensor> inputs = gates.unbind(0);
  const auto count = static_cast<int64_t>(inputs.size());
  RnnState state{hx, cx};
  for (int64_t i = 0; i < count; ++i) {
    Step step{reverse ? count - 1 - i : i, state, {}, {}};
    step.after = rnn_step(kind, {{}, w_hh, {}, b_hh, {}}, inputs[static_cast<size_t>(step.t)], state, &step.gates);
    state = step.after;
    steps_.push_back(std::move(step));
  }
}

ComposedRecurrence::Slopes ComposedRecurrence::slopes(const Step& s, const Tensor& grad_h, const Tensor& grad_c) const {
  if (kind_ == RnnKind::kLstm) {
    const Tensor &in = s.gates[0], &forget = s.gates[1], &cell = s.gates[2], &out = s.gates[3];
    const Tensor t = s.after.c.tanh(), g = add_defined(grad_h * out * (1 - t * t), grad_c);
    const std::vector<Tensor> sums{g * cell * in * (1 - in), g * s.before.c * forget * (1 - forget),
                                   g * in * (1 - cell * cell), grad_h * t * out * (1 - out)};
    return {sums, sums, {{}, g * forget}};
  }
  if (kind_ == RnnKind::kGru) {
    const Tensor &reset = s.gates[0], &update = s.gates[1], &fresh = s.gates[2], &y = s.gates[3];
    const Tensor of_update = grad_h * (s.before.h - fresh) * update * (1 - update),
                 of_fresh = grad_h * (1 - update) * (1 - fresh * fresh), of_reset = of_fresh * y * reset * (1 - reset);
    return {{of_reset, of_update, of_fresh}, {of_reset, of_update, of_fresh * reset}, {grad_h * update, {}}};
  }
  const Tensor& h = s.after.h;
  const Tensor sum = kind_ == RnnKind::kTanh ? grad_h * (1 - h * h) : grad_h * (h > 0).to(grad_h.dtype());
  return {{sum}, {sum}, {}};
}

std::array<Tensor, 5> ComposedRecurrence::gradients(const Tensor& grad_output, const Tensor& grad_cn) const {
  const std::vector<Tensor> outputs = grad_output.unbind(0);
  std::vector<Tensor> inputs(steps_.size()), states, before;
  RnnState grad{{}, grad_cn};
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto t = static_cast<size_t>(step->t);
    const Slopes s = slopes(*step, add_defined(outputs[t], grad.h), grad.c);
    inputs[t] = cat(s.input, -1);
    states.push_back(cat(s.state, -1));
    before.push_back(step->before.h);
    grad = {add_defined(states.back().matmul(w_hh_), s.before.h), s.before.c};
  }
  const Tensor rows = cat(states, 0);
  return {stack(inputs, 0), grad.h, grad.c, rows.t().matmul(cat(before, 0)), b_hh_.defined() ? rows.sum(0) : Tensor()};
}

}  // namespace argand::ops
