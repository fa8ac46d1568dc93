// Adagrad (Duchi, Hazan and Singer, 2011), as torch.optim.Adagrad.
#pragma once
#include "argand/optim/optimizer.h"

namespace argand::optim {

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_ARG(double, lr);
  ARGAND_ARG(double, lr_decay) = 0;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(double, initial_accumulator_value) = 0;
  ARGAND_ARG(double, eps) = 1e-10;
  ARGAND_ARG(bool, maximize) = false;  // climb instead of descend
};

struct AdagradParamState : OptimizerCloneableParamState<AdagradParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override { f("sum", sum_, true); }
  int64_t step_count() const override { return step_; }
  void set_step_count(int64_t n) override { step_ = n; }
  ARGAND_ARG(int64_t, step) = 0;
  ARGAND_ARG(Tensor, sum);
};

class Adagrad : public Optimizer {
 public:
  // ValueError for an option out of range.
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad({OptimizerParamGroup(std::move(params))}, defaults) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override { return std::make_unique<AdagradParamState>(); }
};

}  // namespace argand::optim
