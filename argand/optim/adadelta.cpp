#include "argand/optim/adadelta.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {

void AdadeltaOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("rho", rho_);
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  each_flag("maximize", maximize_, f);
}

void AdadeltaOptions::check() {
  check_numbers(*this);
  ARGAND_CHECK(ValueError, rho_ <= 1, "Invalid rho value: ", rho_);
}

void Adadelta::update(const AdadeltaOptions& o, AdadeltaParamState& s, const Tensor& p, int64_t) {
  begin_with_zeros(s.square_avg(), p);
  begin_with_zeros(s.acc_delta(), p);
  const Tensor g = descent(p, o.weight_decay(), o.maximize());
  s.square_avg().mul_(o.rho()).addcmul_(g, g, 1 - o.rho());
  const Tensor delta = (s.acc_delta() + o.eps()).sqrt() / (s.square_avg() + o.eps()).sqrt() * g;
  s.acc_delta().mul_(o.rho()).addcmul_(delta, delta, 1 - o.rho());
  p.add_(delta, -o.lr());
}

}  // namespace argand::optim
