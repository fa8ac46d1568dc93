#include "argand/optim/nadam.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/each_gradient.h"

namespace argand::optim {

void NAdamOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("beta1", std::get<0>(betas_));
  f("beta2", std::get<1>(betas_));
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  f("momentum_decay", momentum_decay_);
  each_flag("decoupled_weight_decay", decoupled_weight_decay_, f);
  each_flag("maximize", maximize_, f);
}

NAdam::NAdam(const std::vector<OptimizerParamGroup>& groups, NAdamOptions d)
    : Optimizer(groups, std::make_unique<NAdamOptions>(d)) {
  check_numbers_and_betas(d);
}

Tensor NAdam::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  for_each_gradient(param_groups(), [&](const OptimizerOptions& options, const Tensor& p) {
    const auto& o = static_cast<const NAdamOptions&>(options);
    auto& s = static_cast<NAdamParamState&>(state_of(p));
    if (!s.exp_avg().defined()) s.exp_avg(zeros_like(p));
    if (!s.exp_avg_sq().defined()) s.exp_avg_sq(zeros_like(p));
    const double beta1 = std::get<0>(o.betas()), beta2 = std::get<1>(o.betas());
    if (o.decoupled_weight_decay()) p.mul_(1 - o.lr() * o.weight_decay());
    const Tensor g = descent(p, o.decoupled_weight_decay() ? 0 : o.weight_decay(), o.maximize());
    s.step(s.step() + 1);
    const auto t = static_cast<double>(s.step());
    const auto momentum = [&](double at) { return beta1 * (1 - 0.5 * std::pow(0.96, at * o.momentum_decay())); };
    for (; s.mu_steps() < s.step(); ++s.mu_steps()) s.mu_product() *= momentum(static_cast<double>(s.mu_steps() + 1));
    const double mu = momentum(t), next = momentum(t + 1), product = s.mu_product();
    s.exp_avg().lerp_(g, 1 - beta1);
    s.exp_avg_sq().mul_(beta2).addcmul_(g, g, 1 - beta2);
    const Tensor scale = (s.exp_avg_sq() / (1 - std::pow(beta2, t))).sqrt() + o.eps();
    p.addcdiv_(g, scale, -o.lr() * (1 - mu) / (1 - product));
    p.addcdiv_(s.exp_avg(), scale, -o.lr() * next / (1 - product * next));
  });
  return loss;
}

}  // namespace argand::optim
