#include "argand/optim/adagrad.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/each_gradient.h"

namespace argand::optim {

void AdagradOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("lr_decay", lr_decay_);
  f("weight_decay", weight_decay_);
  f("initial_accumulator_value", initial_accumulator_value_);
  f("eps", eps_);
  each_flag("maximize", maximize_, f);
}

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions d)
    : Optimizer(groups, std::make_unique<AdagradOptions>(d)) {
  check_numbers(d);
}

Tensor Adagrad::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  for_each_gradient(param_groups(), [&](const OptimizerOptions& options, const Tensor& p) {
    const auto& o = static_cast<const AdagradOptions&>(options);
    auto& s = static_cast<AdagradParamState&>(state_of(p));
    if (!s.sum().defined()) s.sum(full_like(p, o.initial_accumulator_value()));
    const Tensor g = descent(p, o.weight_decay(), o.maximize());
    s.step(s.step() + 1);
    const double rate = o.lr() / (1 + static_cast<double>(s.step() - 1) * o.lr_decay());
    s.sum().addcmul_(g, g);
    p.addcdiv_(g, s.sum().sqrt() + o.eps(), -rate);
  });
  return loss;
}

}  // namespace argand::optim
