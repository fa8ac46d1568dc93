#include "argand/optim/radam.h"

#include <cmath>

#include "argand/kernels/step_rules.h"

namespace argand::optim {

void RAdamOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("beta1", std::get<0>(betas_));
  f("beta2", std::get<1>(betas_));
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("decoupled_weight_decay", decoupled_weight_decay_, f);
  each_flag("maximize", maximize_, f);
}

RAdam::RAdam(const std::vector<OptimizerParamGroup>& groups, RAdamOptions d)
    : RuleOptimizer(groups, std::make_unique<RAdamOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}

NumberedRule RAdam::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  const auto& o = static_cast<const RAdamOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const auto t = static_cast<double>(state.step_count() + 1);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(beta2, t);
  // `length` is the approximated length of the moving average; the variance of the adaptive rate exists above 4.
  const double longest = 2 / (1 - beta2) - 1, length = longest - 2 * t * std::pow(beta2, t) / correction2;
  const bool rectified = length > 5, decoupled = o.decoupled_weight_decay();
  const double rate =
      !rectified ? 1
                 : std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) *
                       std::sqrt(correction2);
  using R = StepRule<StepKind::kRadam>;  // the first steps have the same numbers
  NumberedRule c(rectified ? StepKind::kRadam : StepKind::kRadamWarmUp, o.maximize(), decoupled ? 0 : o.weight_decay());
  c[R::kRest1] = 1 - beta1;
  c[R::kBeta2] = beta2;
  c[R::kRest2] = 1 - beta2;
  c[R::kStepSize] = o.lr() * rate / correction1;
  c[R::kEps] = o.eps();
  c[R::kShrink] = decoupled ? 1 - o.lr() * o.weight_decay() : 1;
  return c;
}

StateSlots RAdam::slots(const OptimizerOptions&, OptimizerParamState& state) const {
  auto& s = static_cast<RAdamParamState&>(state);
  return {&s.exp_avg(), &s.exp_avg_sq()};
}

}  // namespace argand::optim
