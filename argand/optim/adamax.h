// Adamax (Kingma and Ba, 2015), as torch.optim.Adamax.
#pragma once
#include <tuple>

#include "argand/optim/optimizer.h"

namespace argand::optim {

struct AdamaxOptions : OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_ARG(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_ARG(betas_t, betas) = {0.9, 0.999};
  ARGAND_ARG(double, eps) = 1e-8;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(bool, maximize) = false;  // climb instead of descend
};

struct AdamaxParamState : OptimizerCloneableParamState<AdamaxParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_inf", exp_inf_, true);
  }
  int64_t step_count() const override { return step_; }
  void set_step_count(int64_t n) override { step_ = n; }
  ARGAND_ARG(int64_t, step) = 0;
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_inf);
};

class Adamax : public Optimizer {
 public:
  // ValueError for an option out of range.
  explicit Adamax(const std::vector<OptimizerParamGroup>& groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {})
      : Adamax({OptimizerParamGroup(std::move(params))}, defaults) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override { return std::make_unique<AdamaxParamState>(); }
};

}  // namespace argand::optim
