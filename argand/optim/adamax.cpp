#include "argand/optim/adamax.h"

#include <cmath>

#include "argand/kernels/step_rules.h"

namespace argand::optim {

void AdamaxOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("beta1", std::get<0>(betas_));
  f("beta2", std::get<1>(betas_));
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("maximize", maximize_, f);
}

Adamax::Adamax(const std::vector<OptimizerParamGroup>& groups, AdamaxOptions d)
    : RuleOptimizer(groups, std::make_unique<AdamaxOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}

NumberedRule Adamax::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  const auto& o = static_cast<const AdamaxOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  using R = StepRule<StepKind::kAdamax>;
  NumberedRule c(StepKind::kAdamax, o.maximize(), o.weight_decay());
  c[R::kRest1] = 1 - beta1;
  c[R::kBeta2] = beta2;
  c[R::kStepSize] = o.lr() / (1 - std::pow(beta1, static_cast<double>(state.step_count() + 1)));
  c[R::kEps] = o.eps();
  return c;
}

StateSlots Adamax::slots(const OptimizerOptions&, OptimizerParamState& state) const {
  auto& s = static_cast<AdamaxParamState&>(state);
  return {&s.exp_avg(), &s.exp_inf()};
}

}  // namespace argand::optim
