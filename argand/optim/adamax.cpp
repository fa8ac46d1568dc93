#include "argand/optim/adamax.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {

void AdamaxOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("beta1", std::get<0>(betas_));
  f("beta2", std::get<1>(betas_));
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("maximize", maximize_, f);
}

void AdamaxOptions::check() {
  check_betas(betas_);
  check_numbers(*this);
}

void Adamax::update(const AdamaxOptions& o, AdamaxParamState& s, const Tensor& p, int64_t step) {
  begin_with_zeros(s.exp_avg(), p);
  begin_with_zeros(s.exp_inf(), p);
  const auto [beta1, beta2] = o.betas();
  const Tensor g = descent(p, o.weight_decay(), o.maximize());
  s.exp_avg().lerp_(g, 1 - beta1);
  s.exp_inf().copy_(maximum(s.exp_inf() * beta2, g.abs() + o.eps()));
  p.addcdiv_(s.exp_avg(), s.exp_inf(), -o.lr() / (1 - std::pow(beta1, static_cast<double>(step))));
}

}  // namespace argand::optim
