#include "argand/optim/adagrad.h"

#include <complex>

#include "argand/core/grad_mode.h"
#include "argand/kernels/step_rules.h"
#include "argand/ops/functions.h"

namespace argand::optim {

void AdagradOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("lr_decay", lr_decay_);
  f("weight_decay", weight_decay_);
  f("initial_accumulator_value", initial_accumulator_value_);
  f("eps", eps_);
  each_flag("maximize", maximize_, f);
}

// The sums exist before the first step.
Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions d)
    : RuleOptimizer(groups, std::make_unique<AdagradOptions>(d)) {
  check_numbers(d);
  for (const OptimizerParamGroup& group : param_groups())
    for (const Tensor& p : group.params())
      static_cast<AdagradParamState&>(state_of(p)).sum(first_value(group.options(), p));
}

Tensor Adagrad::first_value(const OptimizerOptions& options, const Tensor& param) const {
  const NoGradGuard no_grad;
  const double first = static_cast<const AdagradOptions&>(options).initial_accumulator_value();
  return full_like(param, param.is_complex() ? Scalar(std::complex<double>(first, first)) : Scalar(first));
}

NumberedRule Adagrad::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  const auto& o = static_cast<const AdagradOptions&>(options);
  using R = StepRule<StepKind::kAdagrad>;
  NumberedRule c(StepKind::kAdagrad, o.maximize(), o.weight_decay());
  c[R::kStepSize] = o.lr() / (1 + static_cast<double>(state.step_count()) * o.lr_decay());
  c[R::kEps] = o.eps();
  return c;
}

StateSlots Adagrad::slots(const OptimizerOptions&, OptimizerParamState& state) const {
  return {&static_cast<AdagradParamState&>(state).sum()};
}

}  // namespace argand::optim
