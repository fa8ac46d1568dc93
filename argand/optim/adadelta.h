// Adadelta (Zeiler, 2012), as torch.optim.Adadelta.
#pragma once
#include "argand/optim/optimizer.h"

namespace argand::optim {

struct AdadeltaOptions : OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_ARG(double, lr);
  ARGAND_ARG(double, rho) = 0.9;
  ARGAND_ARG(double, eps) = 1e-6;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(bool, maximize) = false;  // climb instead of descend
};

struct AdadeltaParamState : OptimizerCloneableParamState<AdadeltaParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("square_avg", square_avg_, true);
    f("acc_delta", acc_delta_, true);
  }
  int64_t step_count() const override { return step_; }
  void set_step_count(int64_t n) override { step_ = n; }
  ARGAND_ARG(int64_t, step) = 0;
  ARGAND_ARG(Tensor, square_avg);
  ARGAND_ARG(Tensor, acc_delta);
};

class Adadelta : public Optimizer {
 public:
  // ValueError for an option out of range.
  explicit Adadelta(const std::vector<OptimizerParamGroup>& groups, AdadeltaOptions defaults = {});
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {})
      : Adadelta({OptimizerParamGroup(std::move(params))}, defaults) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override { return std::make_unique<AdadeltaParamState>(); }
};

}  // namespace argand::optim
