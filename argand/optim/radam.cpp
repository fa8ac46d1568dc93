#include "argand/optim/radam.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

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

void RAdamOptions::check() {
  check_betas(betas_);
  check_numbers(*this);
}

void RAdam::update(const RAdamOptions& o, RAdamParamState& s, const Tensor& p, int64_t step) {
  begin_with_zeros(s.exp_avg(), p);
  begin_with_zeros(s.exp_avg_sq(), p);
  const auto [beta1, beta2] = o.betas();
  if (o.decoupled_weight_decay()) p.mul_(1 - o.lr() * o.weight_decay());
  const Tensor g = descent(p, o.decoupled_weight_decay() ? 0 : o.weight_decay(), o.maximize());
  const auto t = static_cast<double>(step);
  s.exp_avg().lerp_(g, 1 - beta1);
  s.exp_avg_sq().mul_(beta2).addcmul_(g, g, 1 - beta2);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(beta2, t);
  // Of the variance's approximated length: from 5 on the adaptive rate has a variance at all.
  const double longest = 2 / (1 - beta2) - 1, length = longest - 2 * t * std::pow(beta2, t) / correction2;
  if (length <= 5) {
    p.add_(s.exp_avg(), -o.lr() / correction1);
    return;
  }
  const double rectified = std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
  p.addcdiv_(s.exp_avg(), s.exp_avg_sq().sqrt() + o.eps(), -o.lr() * rectified * std::sqrt(correction2) / correction1);
}

}  // namespace argand::optim
