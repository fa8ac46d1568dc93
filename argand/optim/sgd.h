// Stochastic gradient descent with momentum, as torch.optim.SGD.
#pragma once
#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  ARGAND_OPTION(double, momentum) = 0;
  ARGAND_OPTION(double, dampening) = 0;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(bool, nesterov) = false;
  ARGAND_OPTION(bool, maximize) = false;  // climb instead of descend
};

struct SGDParamState : OptimizerCloneableParamState<SGDParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("momentum_buffer", momentum_buffer_, true);
  }
  ARGAND_ARG(Tensor, momentum_buffer);
};

class SGD : public RuleOptimizer {
 public:
  // ValueError for a negative learning rate, momentum or weight decay, and for nesterov without momentum.
  explicit SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  bool in_step(const OptimizerParamState& a, const OptimizerParamState& b) const override;
  StatePtr make_state() const override { return StatePtr(new SGDParamState); }
};

}  // namespace argand::optim
