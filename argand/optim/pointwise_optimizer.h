// The base of optimizers whose step is a few pointwise ops for each parameter.  On a GPU, and for large tensors of the
// CPU, the issue window makes few kernels of those ops.
#pragma once
#include "argand/core/grad_mode.h"
#include "argand/optim/optimizer.h"

namespace argand::optim {

// Options have check(), which throws ValueError if one is out of range.
template <class Options, class State>
class PointwiseOptimizer : public Optimizer {
 public:
  explicit PointwiseOptimizer(const std::vector<OptimizerParamGroup>& groups, Options defaults = {})
      : Optimizer(groups, std::unique_ptr<OptimizerOptions>(new Options(defaults))) {
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
        const int64_t step = state.step() + 1;
        update(static_cast<const Options&>(group.options()), state, p, step);
        state.step(step);  // a step that failed is not counted
      }
    return loss;
  }

 protected:
  // The step of that number of p, which has a gradient; nothing is recorded.
  virtual void update(const Options& o, State& state, const Tensor& p, int64_t step) = 0;
  StatePtr make_state() const override { return StatePtr(new State); }
};

// The gradient of p to descend, with an L2 penalty.
Tensor descent(const Tensor& p, double weight_decay, bool maximize);
// Zeros like p, if there is nothing yet.
void begin_with_zeros(Tensor& t, const Tensor& p);

}  // namespace argand::optim
