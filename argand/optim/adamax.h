// Adamax (Kingma and Ba, 2015), as torch.optim.Adamax.
#pragma once
#include <tuple>

#include "argand/optim/pointwise_optimizer.h"

namespace argand::optim {

struct AdamaxOptions : OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  void check();
  ARGAND_ARG(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_ARG(betas_t, betas) = {0.9, 0.999};
  ARGAND_ARG(double, eps) = 1e-8;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(bool, maximize) = false;  // climb instead of descend
};

struct AdamaxParamState : CountingParamState<AdamaxParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_inf", exp_inf_, true);
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_inf);
};

class Adamax : public PointwiseOptimizer<AdamaxOptions, AdamaxParamState> {
 public:
  using PointwiseOptimizer::PointwiseOptimizer;

 protected:
  void update(const AdamaxOptions& o, AdamaxParamState& s, const Tensor& p, int64_t step) override;
};

}  // namespace argand::optim
