// RMSprop, as torch.optim.RMSprop.
#pragma once
#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions() : lr_(1e-2) {}
  RMSpropOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  ARGAND_OPTION(double, alpha) = 0.99;
  ARGAND_OPTION(double, eps) = 1e-8;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(double, momentum) = 0;
  ARGAND_OPTION(bool, centered) = false;
  ARGAND_OPTION(bool, maximize) = false;  // climb instead of descend
};

struct RMSpropParamState : CountingParamState<RMSpropParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("square_avg", square_avg_, true);
    f("momentum_buffer", momentum_buffer_, false);
    f("grad_avg", grad_avg_, false);
  }
  ARGAND_ARG(Tensor, square_avg);
  ARGAND_ARG(Tensor, momentum_buffer);
  ARGAND_ARG(Tensor, grad_avg);
};

class RMSprop : public RuleOptimizer {
 public:
  // ValueError for a negative option.
  explicit RMSprop(const std::vector<OptimizerParamGroup>& groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new RMSpropParamState); }
};

}  // namespace argand::optim
