// Adadelta (Zeiler, 2012), as torch.optim.Adadelta.
#pragma once
#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct AdadeltaOptions : OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions() : lr_(1.0) {}
  AdadeltaOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  ARGAND_OPTION(double, rho) = 0.9;
  ARGAND_OPTION(double, eps) = 1e-6;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(bool, maximize) = false;  // climb instead of descend
};

struct AdadeltaParamState : CountingParamState<AdadeltaParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("square_avg", square_avg_, true);
    f("acc_delta", acc_delta_, true);
  }
  ARGAND_ARG(Tensor, square_avg);
  ARGAND_ARG(Tensor, acc_delta);
};

class Adadelta : public RuleOptimizer {
 public:
  // ValueError for a negative option or a rho above 1.
  explicit Adadelta(const std::vector<OptimizerParamGroup>& groups, AdadeltaOptions defaults = {});
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {})
      : Adadelta({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new AdadeltaParamState); }
};

}  // namespace argand::optim
