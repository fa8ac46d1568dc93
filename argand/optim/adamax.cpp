#include "argand/optim/adamax.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/each_gradient.h"

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
    : Optimizer(groups, std::make_unique<AdamaxOptions>(d)) {
  check_numbers_and_betas(d);
}

Tensor Adamax::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  for_each_gradient(param_groups(), [&](const OptimizerOptions& options, const Tensor& p) {
    const auto& o = static_cast<const AdamaxOptions&>(options);
    auto& s = static_cast<AdamaxParamState&>(state_of(p));
    if (!s.exp_avg().defined()) s.exp_avg(zeros_like(p));
    if (!s.exp_inf().defined()) s.exp_inf(zeros_like(p));
    const auto [beta1, beta2] = o.betas();
    const Tensor g = descent(p, o.weight_decay(), o.maximize());
    s.step(s.step() + 1);
    s.exp_avg().lerp_(g, 1 - beta1);
    s.exp_inf().copy_(maximum(s.exp_inf() * beta2, g.abs() + o.eps()));
    p.addcdiv_(s.exp_avg(), s.exp_inf(), -o.lr() / (1 - std::pow(beta1, static_cast<double>(s.step()))));
  });
  return loss;
}

}  // namespace argand::optim
