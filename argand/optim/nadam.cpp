#include "argand/optim/nadam.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

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

void NAdamOptions::check() {
  check_betas(betas_);
  check_numbers(*this);
}

void NAdam::update(const NAdamOptions& o, NAdamParamState& s, const Tensor& p, int64_t step) {
  begin_with_zeros(s.exp_avg(), p);
  begin_with_zeros(s.exp_avg_sq(), p);
  const double beta1 = std::get<0>(o.betas()), beta2 = std::get<1>(o.betas());
  if (o.decoupled_weight_decay()) p.mul_(1 - o.lr() * o.weight_decay());
  const Tensor g = descent(p, o.decoupled_weight_decay() ? 0 : o.weight_decay(), o.maximize());
  const auto t = static_cast<double>(step);
  const auto momentum = [&](double at) { return beta1 * (1 - 0.5 * std::pow(0.96, at * o.momentum_decay())); };
  for (; s.mu_steps() < step; ++s.mu_steps()) s.mu_product() *= momentum(static_cast<double>(s.mu_steps() + 1));
  const double mu = momentum(t), next = momentum(t + 1), product = s.mu_product();
  s.exp_avg().lerp_(g, 1 - beta1);
  s.exp_avg_sq().mul_(beta2).addcmul_(g, g, 1 - beta2);
  const Tensor scale = (s.exp_avg_sq() / (1 - std::pow(beta2, t))).sqrt() + o.eps();
  p.addcdiv_(g, scale, -o.lr() * (1 - mu) / (1 - product));
  p.addcdiv_(s.exp_avg(), scale, -o.lr() * next / (1 - product * next));
}

}  // namespace argand::optim
