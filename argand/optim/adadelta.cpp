#include "argand/optim/adadelta.h"

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/each_gradient.h"

namespace argand::optim {

void AdadeltaOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("rho", rho_);
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("maximize", maximize_, f);
}

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& groups, AdadeltaOptions d)
    : Optimizer(groups, std::make_unique<AdadeltaOptions>(d)) {
  check_numbers(d);
  ARGAND_CHECK(ValueError, d.rho() <= 1, "Invalid rho value: ", d.rho());
}

Tensor Adadelta::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  for_each_gradient(param_groups(), [&](const OptimizerOptions& options, const Tensor& p) {
    const auto& o = static_cast<const AdadeltaOptions&>(options);
    auto& s = static_cast<AdadeltaParamState&>(state_of(p));
    if (!s.square_avg().defined()) s.square_avg(zeros_like(p));
    if (!s.acc_delta().defined()) s.acc_delta(zeros_like(p));
    const Tensor g = descent(p, o.weight_decay(), o.maximize());
    s.step(s.step() + 1);
    s.square_avg().mul_(o.rho()).addcmul_(g, g, 1 - o.rho());
    const Tensor delta = (s.acc_delta() + o.eps()).sqrt() / (s.square_avg() + o.eps()).sqrt() * g;
    s.acc_delta().mul_(o.rho()).addcmul_(delta, delta, 1 - o.rho());
    p.add_(delta, -o.lr());
  });
  return loss;
}

}  // namespace argand::optim
