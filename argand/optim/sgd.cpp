#include "argand/optim/sgd.h"

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"

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
    : Optimizer(groups, std::make_unique<SGDOptions>(d)) {
  ARGAND_CHECK(ValueError, d.lr() >= 0, "Invalid learning rate: ", d.lr());
  ARGAND_CHECK(ValueError, d.momentum() >= 0, "Invalid momentum value: ", d.momentum());
  ARGAND_CHECK(ValueError, d.weight_decay() >= 0, "Invalid weight_decay value: ", d.weight_decay());
  ARGAND_CHECK(ValueError, !d.nesterov() || (d.momentum() > 0 && d.dampening() == 0),
               "Nesterov momentum requires a momentum and zero dampening");
}

Tensor SGD::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  for (OptimizerParamGroup& group : param_groups()) {
    const auto& o = static_cast<const SGDOptions&>(group.options());
    // A buffer seen for the first time takes the gradient as it is; those parameters are stepped apart.
    std::vector<Tensor> params[2], grads[2], buffers[2];
    std::vector<SGDParamState*> fresh;  // get their buffer when the step is done
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined()) continue;
      bool first = false;
      if (o.momentum() != 0) {
        auto& state = static_cast<SGDParamState&>(state_of(p));
        first = !state.momentum_buffer().defined();
        if (first) fresh.push_back(&state);
        buffers[first].push_back(first ? zeros_like(p) : state.momentum_buffer());
      }
      params[first].push_back(p);
      grads[first].push_back(p.grad());
    }
    for (const bool first : {false, true})
      if (!params[first].empty())
        _fused_sgd_(params[first], grads[first], buffers[first], o.lr(), o.weight_decay(), o.momentum(), o.dampening(),
                    o.nesterov(), o.maximize(), first);
    for (size_t i = 0; i < fresh.size(); ++i) fresh[i]->momentum_buffer(buffers[true][i]);
  }
  return loss;
}

}  // namespace argand::optim
