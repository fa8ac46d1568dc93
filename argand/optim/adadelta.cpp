#include "argand/optim/adadelta.h"

#include "argand/kernels/step_rules.h"

namespace argand::optim {

void AdadeltaOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("rho", rho_);
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("maximize", maximize_, f);
}

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& groups, AdadeltaOptions d)
    : RuleOptimizer(groups, std::make_unique<AdadeltaOptions>(d)) {
  check_numbers(d);
  ARGAND_CHECK(ValueError, d.rho() <= 1, "Invalid rho value: ", d.rho());
}

NumberedRule Adadelta::next_rule(const OptimizerOptions& options, const OptimizerParamState&) const {
  const auto& o = static_cast<const AdadeltaOptions&>(options);
  using R = StepRule<StepKind::kAdadelta>;
  NumberedRule c(StepKind::kAdadelta, o.maximize(), o.weight_decay());
  c[R::kLr] = o.lr();
  c[R::kRho] = o.rho();
  c[R::kRest] = 1 - o.rho();
  c[R::kEps] = o.eps();
  return c;
}

StateSlots Adadelta::slots(const OptimizerOptions&, OptimizerParamState& state) const {
  auto& s = static_cast<AdadeltaParamState&>(state);
  return {&s.square_avg(), &s.acc_delta()};
}

}  // namespace argand::optim
