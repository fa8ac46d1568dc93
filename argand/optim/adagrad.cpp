#include "argand/optim/adagrad.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {

void AdagradOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("lr_decay", lr_decay_);
  f("weight_decay", weight_decay_);
  f("initial_accumulator_value", initial_accumulator_value_);
  f("eps", eps_);
  each_flag("maximize", maximize_, f);
}

void AdagradOptions::check() { check_numbers(*this); }

void Adagrad::begin() {
  const NoGradGuard no_grad;
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& o = static_cast<const AdagradOptions&>(group.options());
    for (const Tensor& p : group.params())
      static_cast<AdagradParamState&>(state_of(p)).sum(full_like(p, o.initial_accumulator_value()));
  }
}

void Adagrad::update(const AdagradOptions& o, AdagradParamState& s, const Tensor& p, int64_t step) {
  if (!s.sum().defined()) s.sum(full_like(p, o.initial_accumulator_value()));
  const Tensor g = descent(p, o.weight_decay(), o.maximize());
  const double rate = o.lr() / (1 + static_cast<double>(step - 1) * o.lr_decay());
  s.sum().addcmul_(g, g);
  p.addcdiv_(g, s.sum().sqrt() + o.eps(), -rate);
}

}  // namespace argand::optim
