#include "argand/optim/rmsprop.h"

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"

namespace argand::optim {

void RMSpropOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("alpha", alpha_);
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  f("momentum", momentum_);
  each_flag("centered", centered_, f);
  each_flag("maximize", maximize_, f);
}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& groups, RMSpropOptions d)
    : Optimizer(groups, std::make_unique<RMSpropOptions>(d)) {
  check_numbers(d);
}

Tensor RMSprop::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  for (OptimizerParamGroup& group : param_groups()) {
    const auto& o = static_cast<const RMSpropOptions&>(group.options());
    std::vector<Tensor> params, grads, squares, means, buffers;
    std::vector<RMSpropParamState*> states;
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined()) continue;
      auto& state = static_cast<RMSpropParamState&>(state_of(p));
      if (!state.square_avg().defined()) state.square_avg(zeros_like(p));
      if (o.momentum() > 0 && !state.momentum_buffer().defined()) state.momentum_buffer(zeros_like(p));
      if (o.centered() && !state.grad_avg().defined()) state.grad_avg(zeros_like(p));
      states.push_back(&state);
      params.push_back(p);
      grads.push_back(p.grad());
      squares.push_back(state.square_avg());
      if (o.centered()) means.push_back(state.grad_avg());
      if (o.momentum() > 0) buffers.push_back(state.momentum_buffer());
    }
    if (!params.empty())
      _fused_rmsprop_(params, grads, squares, means, buffers, o.lr(), o.alpha(), o.eps(), o.weight_decay(),
                      o.momentum(), o.centered(), o.maximize());
    for (RMSpropParamState* state : states) state->step(state->step() + 1);  // a step that failed is not counted
  }
  return loss;
}

}  // namespace argand::optim
