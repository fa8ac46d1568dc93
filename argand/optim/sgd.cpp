#include "argand/optim/sgd.h"

#include "argand/kernels/step_rules.h"

namespace argand::optim {

void SGDOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("momentum", momentum_);
  f("dampening", dampening_);
  f("weight_decay", weight_decay_);
  each_flag("nesterov", nesterov_, f);
  each_flag("maximize", maximize_, f);
}

SGD::SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions d)
    : RuleOptimizer(groups, std::make_unique<SGDOptions>(d)) {
  ARGAND_CHECK(ValueError, d.lr() >= 0, "Invalid learning rate: ", d.lr());
  ARGAND_CHECK(ValueError, d.momentum() >= 0, "Invalid momentum value: ", d.momentum());
  ARGAND_CHECK(ValueError, d.weight_decay() >= 0, "Invalid weight_decay value: ", d.weight_decay());
  ARGAND_CHECK(ValueError, !d.nesterov() || (d.momentum() > 0 && d.dampening() == 0),
               "Nesterov momentum requires a momentum and zero dampening");
}

// A buffer takes the first gradient as it is.
bool SGD::in_step(const OptimizerParamState& a, const OptimizerParamState& b) const {
  const auto has_buffer = [](const OptimizerParamState& s) {
    return static_cast<const SGDParamState&>(s).momentum_buffer().defined();
  };
  return has_buffer(a) == has_buffer(b);
}

NumberedRule SGD::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  const auto& o = static_cast<const SGDOptions&>(options);
  if (o.momentum() == 0) {
    NumberedRule c(StepKind::kSgd, o.maximize(), o.weight_decay());
    c[StepRule<StepKind::kSgd>::kLr] = o.lr();
    return c;
  }
  const bool first = !static_cast<const SGDParamState&>(state).momentum_buffer().defined();
  using R = StepRule<StepKind::kSgdMomentum>;  // Nesterov's has the same numbers
  NumberedRule c(o.nesterov() ? StepKind::kSgdNesterov : StepKind::kSgdMomentum, o.maximize(), o.weight_decay());
  c[R::kLr] = o.lr();
  c[R::kMomentum] = o.momentum();
  c[R::kKeep] = first ? 0 : o.momentum();
  c[R::kDampening] = first ? 0 : o.dampening();
  return c;
}

StateSlots SGD::slots(const OptimizerOptions& options, OptimizerParamState& state) const {
  const bool momentum = static_cast<const SGDOptions&>(options).momentum() != 0;
  return {momentum ? &static_cast<SGDParamState&>(state).momentum_buffer() : nullptr};
}

}  // namespace argand::optim
