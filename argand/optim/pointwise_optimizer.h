// The base of optimizers whose step is a few pointwise ops for each parameter.  On a GPU, and for large tensors of the
// CPU, the issue window makes few kernels of those ops.
#pragma once
#include <tuple>

#include "argand/core/grad_mode.h"
#include "argand/optim/optimizer.h"

namespace argand::optim {

// A state that counts steps.
template <class Derived>
class CountingParamState : public OptimizerCloneableParamState<Derived> {
 public:
  int64_t step_count() const override { return step_; }
  void set_step_count(int64_t n) override { step_ = n; }
  ARGAND_ARG(int64_t, step) = 0;
};

// Options have check(), which throws ValueError if one is out of range.
template <class Options, class State>
class PointwiseOptimizer : public Optimizer {
 public:
  explicit PointwiseOptimizer(const std::vector<OptimizerParamGroup>& groups, Options defaults = {})
      : Optimizer(groups, std::make_unique<Options>(defaults)) {
    defaults.check();
  }
  explicit PointwiseOptimizer(std::vector<Tensor> params, Options defaults = {})
      : PointwiseOptimizer({OptimizerParamGroup(std::move(params))}, defaults) {}

  Tensor step(LossClosure closure = nullptr) override {
    Tensor loss = run_closure(closure);
    const NoGradGuard no_grad;
    for (const OptimizerParamGroup& group : param_groups())
      for (const Tensor& p : group.params()) {
        if (!p.grad().defined()) continue;
        auto& state = static_cast<State&>(state_of(p));
        state.step(state.step() + 1);
        update(static_cast<const Options&>(group.options()), state, p);
      }
    return loss;
  }

 protected:
  // Step state.step() of p, which has a gradient; nothing is recorded.
  virtual void update(const Options& o, State& state, const Tensor& p) = 0;
  std::unique_ptr<OptimizerParamState> make_state() const override { return std::make_unique<State>(); }
};

// The gradient of p to descend, with an L2 penalty.
Tensor descent(const Tensor& p, double weight_decay, bool maximize);
// Zeros like p, if there is nothing yet.
void begin_with_zeros(Tensor& t, const Tensor& p);

// ValueError unless all numbers of the options are 0 or more; the momenta also unless they are below 1.
void check_numbers(OptimizerOptions& options);
void check_betas(const std::tuple<double, double>& betas);

}  // namespace argand::optim
