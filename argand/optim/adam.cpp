#include "argand/optim/adam.h"

#include <cmath>

#include "argand/kernels/step_rules.h"

namespace argand::optim {
namespace {

// The options of Adam and AdamW are of two types.
template <class Options>
NumberedRule rule_of(const Options& o, const OptimizerParamState& state, bool decoupled) {
  const auto step = static_cast<double>(state.step_count() + 1);
  const auto [beta1, beta2] = o.betas();
  using R = StepRule<StepKind::kAdam>;  // AMSGrad has the same numbers
  NumberedRule c(o.amsgrad() ? StepKind::kAdamAmsgrad : StepKind::kAdam, o.maximize(),
                 decoupled ? 0 : o.weight_decay());
  c[R::kBeta1] = beta1;
  c[R::kRest1] = 1 - beta1;
  c[R::kBeta2] = beta2;
  c[R::kRest2] = 1 - beta2;
  c[R::kStepSize] = o.lr() / (1 - std::pow(beta1, step));
  c[R::kRoot2] = std::sqrt(1 - std::pow(beta2, step));
  c[R::kEps] = o.eps();
  c[R::kShrink] = decoupled ? 1 - o.lr() * o.weight_decay() : 1;
  return c;
}

StateSlots slots_of(OptimizerParamState& state, bool amsgrad) {
  auto& s = static_cast<AdamParamState&>(state);
  return {&s.exp_avg(), &s.exp_avg_sq(), amsgrad ? &s.max_exp_avg_sq() : nullptr};
}

}  // namespace

Adam::Adam(const std::vector<OptimizerParamGroup>& groups, AdamOptions d)
    : RuleOptimizer(groups, std::make_unique<AdamOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& groups, AdamWOptions d)
    : RuleOptimizer(groups, std::make_unique<AdamWOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}

NumberedRule Adam::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  return rule_of(static_cast<const AdamOptions&>(options), state, false);
}
NumberedRule AdamW::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  return rule_of(static_cast<const AdamWOptions&>(options), state, true);
}
StateSlots Adam::slots(const OptimizerOptions& options, OptimizerParamState& state) const {
  return slots_of(state, static_cast<const AdamOptions&>(options).amsgrad());
}
StateSlots AdamW::slots(const OptimizerOptions& options, OptimizerParamState& state) const {
  return slots_of(state, static_cast<const AdamWOptions&>(options).amsgrad());
}

}  // namespace argand::optim
