#include "argand/optim/rmsprop.h"

#include "argand/kernels/step_rules.h"

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
    : RuleOptimizer(groups, std::make_unique<RMSpropOptions>(d)) {
  check_numbers(d);
}

NumberedRule RMSprop::next_rule(const OptimizerOptions& options, const OptimizerParamState&) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  const bool momentum = o.momentum() > 0;
  const StepKind kind = o.centered() ? (momentum ? StepKind::kRmspropCenteredMomentum : StepKind::kRmspropCentered)
                                     : (momentum ? StepKind::kRmspropMomentum : StepKind::kRmsprop);
  using R = StepRule<StepKind::kRmsprop>;  // the others have the same numbers
  NumberedRule c(kind, o.maximize(), o.weight_decay());
  c[R::kLr] = o.lr();
  c[R::kAlpha] = o.alpha();
  c[R::kRest] = 1 - o.alpha();
  c[R::kEps] = o.eps();
  c[R::kMomentum] = o.momentum();
  return c;
}

StateSlots RMSprop::slots(const OptimizerOptions& options, OptimizerParamState& state) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  auto& s = static_cast<RMSpropParamState&>(state);
  Tensor* const buffer = o.momentum() > 0 ? &s.momentum_buffer() : nullptr;
  if (o.centered()) return {&s.square_avg(), &s.grad_avg(), buffer};
  return {&s.square_avg(), buffer};
}

}  // namespace argand::optim
