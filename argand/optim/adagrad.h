// Adagrad (Duchi, Hazan and Singer, 2011), as torch.optim.Adagrad.
#pragma once
#include "argand/optim/pointwise_optimizer.h"

namespace argand::optim {

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  void check();
  ARGAND_ARG(double, lr);
  ARGAND_ARG(double, lr_decay) = 0;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(double, initial_accumulator_value) = 0;
  ARGAND_ARG(double, eps) = 1e-10;
  ARGAND_ARG(bool, maximize) = false;  // climb instead of descend
};

struct AdagradParamState : CountingParamState<AdagradParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override { f("sum", sum_, true); }
  ARGAND_ARG(Tensor, sum);
};

class Adagrad : public PointwiseOptimizer<AdagradOptions, AdagradParamState> {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions defaults = {})
      : PointwiseOptimizer(groups, std::move(defaults)) {
    begin();
  }
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

 protected:
  void update(const AdagradOptions& o, AdagradParamState& s, const Tensor& p, int64_t step) override;

 private:
  void begin();  // the sums, which are there before the first step
};

}  // namespace argand::optim
