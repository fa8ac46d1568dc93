// Rectified Adam (Liu and others, 2020), as torch.optim.RAdam.
#pragma once
#include <tuple>

#include "argand/optim/pointwise_optimizer.h"

namespace argand::optim {

struct RAdamOptions : OptimizerCloneableOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}
  void each_number(const std::function<void(const char*, double&)>& f) override;
  void check();
  ARGAND_ARG(double, lr);
  using betas_t = std::tuple<double, double>;
  ARGAND_ARG(betas_t, betas) = {0.9, 0.999};
  ARGAND_ARG(double, eps) = 1e-8;
  ARGAND_ARG(double, weight_decay) = 0;
  ARGAND_ARG(bool, decoupled_weight_decay) = false;  // as AdamW
  ARGAND_ARG(bool, maximize) = false;                // climb instead of descend
};

struct RAdamParamState : CountingParamState<RAdamParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override {
    f("exp_avg", exp_avg_, true);
    f("exp_avg_sq", exp_avg_sq_, true);
  }
  ARGAND_ARG(Tensor, exp_avg);
  ARGAND_ARG(Tensor, exp_avg_sq);
};

class RAdam : public PointwiseOptimizer<RAdamOptions, RAdamParamState> {
 public:
  using PointwiseOptimizer::PointwiseOptimizer;

 protected:
  void update(const RAdamOptions& o, RAdamParamState& s, const Tensor& p, int64_t step) override;
};

}  // namespace argand::optim
