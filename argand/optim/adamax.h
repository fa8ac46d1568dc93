// Adamax (Kingma and Ba, 2015), as torch.optim.Adamax.
#pragma once
#include <tuple>

#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct AdamaxOptions : OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions() : lr_(2e-3) {}
  AdamaxOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_OPTION(betas_t, betas) = {0.9, 0.999};
  ARGAND_OPTION(double, eps) = 1e-8;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(bool, maximize) = false;  // climb instead of descend
};

struct AdamaxParamState : CountingParamState<AdamaxParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_inf", exp_inf_, true);
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_inf);
};

class Adamax : public RuleOptimizer {
 public:
  // ValueError for a negative option, or betas outside [0, 1).
  explicit Adamax(const std::vector<OptimizerParamGroup>& groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {})
      : Adamax({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new AdamaxParamState); }
};

}  // namespace argand::optim
