#include "argand/optim/adam.h"

#include <map>

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"

namespace argand::optim {
namespace {

struct Lists {
  std::vector<AdamParamState*> states;
  std::vector<Tensor> params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs;

  void reserve(size_t n) {
    states.reserve(n);
    for (auto* list : {&params, &grads, &exp_avgs, &exp_avg_sqs}) list->reserve(n);
  }
};

template <class Options, class StateOf>
void step_groups(std::vector<OptimizerParamGroup>& groups, bool decoupled, StateOf state_of) {
  const NoGradGuard no_grad;
  for (OptimizerParamGroup& group : groups) {
    const auto& o = static_cast<const Options&>(group.options());
    // Parameters that missed steps (no gradient) have corrections of their own, so they are stepped by count.
    std::map<int64_t, Lists> by_step;
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined()) continue;
      AdamParamState& state = state_of(p);
      if (!state.exp_avg().defined()) state.exp_avg(zeros_like(p));
      if (!state.exp_avg_sq().defined()) state.exp_avg_sq(zeros_like(p));
      if (o.amsgrad() && !state.max_exp_avg_sq().defined()) state.max_exp_avg_sq(zeros_like(p));
      Lists& l = by_step[state.step() + 1];
      if (l.params.empty()) l.reserve(group.params().size());
      l.states.push_back(&state);
      l.params.push_back(p);
      l.grads.push_back(p.grad());
      l.exp_avgs.push_back(state.exp_avg());
      l.exp_avg_sqs.push_back(state.exp_avg_sq());
      if (o.amsgrad()) l.max_exp_avg_sqs.push_back(state.max_exp_avg_sq());
    }
    const auto [beta1, beta2] = o.betas();
    for (const auto& [step, l] : by_step) {
      _fused_adam_(l.params, l.grads, l.exp_avgs, l.exp_avg_sqs, l.max_exp_avg_sqs, step, o.lr(), beta1, beta2,
                   o.weight_decay(), o.eps(), o.amsgrad(), decoupled, o.maximize());
      for (AdamParamState* state : l.states) state->step(step);  // a step that failed is not counted
    }
  }
}

}  // namespace

Adam::Adam(const std::vector<OptimizerParamGroup>& groups, AdamOptions d)
    : Optimizer(groups, std::make_unique<AdamOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& groups, AdamWOptions d)
    : Optimizer(groups, std::make_unique<AdamWOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}

Tensor Adam::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  step_groups<AdamOptions>(param_groups(), false, [&](const Tensor& p) -> AdamParamState& {
    return static_cast<AdamParamState&>(state_of(p));
  });
  return loss;
}

Tensor AdamW::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  step_groups<AdamWOptions>(param_groups(), true, [&](const Tensor& p) -> AdamParamState& {
    return static_cast<AdamParamState&>(state_of(p));
  });
  return loss;
}

}  // namespace argand::optim
