// Rectified Adam (Liu and others, 2020), as torch.optim.RAdam.
#pragma once
#include <tuple>

#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct RAdamOptions : OptimizerCloneableOptions<RAdamOptions> {
  RAdamOptions() : lr_(1e-3) {}
  RAdamOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_OPTION(betas_t, betas) = {0.9, 0.999};
  ARGAND_OPTION(double, eps) = 1e-8;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(bool, decoupled_weight_decay) = false;  // as AdamW
  ARGAND_OPTION(bool, maximize) = false;                // climb instead of descend
};

struct RAdamParamState : CountingParamState<RAdamParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_avg_sq", exp_avg_sq_, true);
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_avg_sq);
};

class RAdam : public RuleOptimizer {
 public:
  // ValueError for a negative option, or betas outside [0, 1).
  explicit RAdam(const std::vector<OptimizerParamGroup>& groups, RAdamOptions defaults = {});
  explicit RAdam(std::vector<Tensor> params, RAdamOptions defaults = {})
      : RAdam({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new RAdamParamState); }
};

}  // namespace argand::optim
