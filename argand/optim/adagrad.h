// Adagrad (Duchi, Hazan and Singer, 2011), as torch.optim.Adagrad.
#pragma once
#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions() : lr_(1e-2) {}
  AdagradOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  ARGAND_OPTION(double, lr_decay) = 0;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(double, initial_accumulator_value) = 0;
  ARGAND_OPTION(double, eps) = 1e-10;
  ARGAND_OPTION(bool, maximize) = false;  // climb instead of descend
};

struct AdagradParamState : CountingParamState<AdagradParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override { f("sum", sum_, true); }
  ARGAND_ARG(Tensor, sum);
};

class Adagrad : public RuleOptimizer {
 public:
  // ValueError for a negative option.
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  Tensor first_value(const OptimizerOptions& options, const Tensor& param) const override;
  StatePtr make_state() const override { return StatePtr(new AdagradParamState); }
};

}  // namespace argand::optim
