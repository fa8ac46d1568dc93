// Adam and AdamW, as torch.optim.
#pragma once
#include <tuple>

#include "argand/optim/rule_optimizer.h"

namespace argand::optim {

// The options of Adam (L2 penalty added to the gradient) and AdamW (decoupled weight decay) differ in a default only.
template <class Derived>
struct AdamLikeOptions : OptimizerCloneableOptions<Derived> {
  using betas_t = std::tuple<double, double>;
  AdamLikeOptions(double lr, double weight_decay) : lr_(lr), weight_decay_(weight_decay) {}
  void each_number(const std::function<void(const char*, double&)>& f) override {
    f("lr", lr_);
    f("beta1", std::get<0>(betas_));
    f("beta2", std::get<1>(betas_));
    f("eps", eps_);
    f("weight_decay", weight_decay_);
    this->each_flag("amsgrad", amsgrad_, f);
    this->each_flag("maximize", maximize_, f);
  }

#define ARGAND_ADAM_ARG(T, name)                     \
 public:                                             \
  Derived& name(const T& value) {                    \
    name##_ = value;                                 \
    this->note_set(#name);                           \
    return static_cast<Derived&>(*this);             \
  }                                                  \
  const T& name() const noexcept { return name##_; } \
  T& name() noexcept { return name##_; }             \
                                                     \
 private:                                            \
  T name##_
  ARGAND_ADAM_ARG(double, lr);
  ARGAND_ADAM_ARG(betas_t, betas) = {0.9, 0.999};
  ARGAND_ADAM_ARG(double, eps) = 1e-8;
  ARGAND_ADAM_ARG(double, weight_decay);
  ARGAND_ADAM_ARG(bool, amsgrad) = false;
  ARGAND_ADAM_ARG(bool, maximize) = false;  // climb instead of descend
#undef ARGAND_ADAM_ARG
};

struct AdamOptions : AdamLikeOptions<AdamOptions> {
  AdamOptions() : AdamLikeOptions(1e-3, 0) {}
  AdamOptions(double lr) : AdamLikeOptions(lr, 0) { note_set("lr"); }
};
struct AdamWOptions : AdamLikeOptions<AdamWOptions> {
  AdamWOptions() : AdamLikeOptions(1e-3, 1e-2) {}
  AdamWOptions(double lr) : AdamLikeOptions(lr, 1e-2) { note_set("lr"); }
};

struct AdamParamState : CountingParamState<AdamParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_avg_sq", exp_avg_sq_, true);
    f("max_exp_avg_sq", max_exp_avg_sq_, false);
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_avg_sq);
  ARGAND_ARG(Tensor, max_exp_avg_sq);
};
using AdamWParamState = AdamParamState;

// ValueError for a negative lr, eps or weight decay, or betas outside [0, 1).
class Adam : public RuleOptimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {})
      : Adam({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new AdamParamState); }
};

class AdamW : public RuleOptimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {})
      : AdamW({OptimizerParamGroup(std::move(params))}, defaults) {}

 protected:
  NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const override;
  StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const override;
  StatePtr make_state() const override { return StatePtr(new AdamParamState); }
};

}  // namespace argand::optim
