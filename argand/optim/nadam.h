// Adam with Nesterov momentum (Dozat, 2016), as torch.optim.NAdam.
#pragma once
#include <tuple>

#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

struct NAdamOptions : OptimizerCloneableOptions<NAdamOptions> {
  NAdamOptions() : lr_(2e-3) {}
  NAdamOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_OPTION(betas_t, betas) = {0.9, 0.999};
  ARGAND_OPTION(double, eps) = 1e-8;
  ARGAND_OPTION(double, weight_decay) = 0;
  ARGAND_OPTION(double, momentum_decay) = 4e-3;
  ARGAND_OPTION(bool, decoupled_weight_decay) = false;  // as AdamW
  ARGAND_OPTION(bool, maximize) = false;                // climb instead of descend
};

struct NAdamParamState : CountingParamState<NAdamParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_avg_sq", exp_avg_sq_, true);
  }
  void set_step_count(int64_t n) override {
    CountingParamState::set_step_count(n);
    mu_product_ = 1;
    mu_steps_ = 0;
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_avg_sq);
  // The product of the momenta of the first `mu_steps` steps; not saved, but made again from the options.
  ARGAND_ARG(double, mu_product) = 1;
  ARGAND_ARG(int64_t, mu_steps) = 0;
};

class NAdam : public RuleOptimizer {
 public:
  // ValueError for a negative option, or betas outside [0, 1).
  explicit NAdam(const std::vector<OptimizerParamGroup>& groups, NAdamOptions defaults = {});
  explicit NAdam(std::vector<Tensor> params, NAdamOptions defaults = {})
      : NAdam({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  bool in_step(const OptimizerParamState& a, const OptimizerParamState& b) const override;
  void count_step(const OptimizerOptions& options, OptimizerParamState& state) const noexcept override;
  StatePtr make_state() const override { return StatePtr(new NAdamParamState); }
};

}  // namespace argand::optim
